#include "ballast/data/parallel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ballast/base/error.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ParallelTextFiles : public ::testing::Test {
 protected:
  ParallelTextFiles() { fs::create_directories(folder_); }
  ~ParallelTextFiles() override { fs::remove_all(folder_); }

  ParallelText read(std::string_view source, std::string_view target) const {
    const std::vector<fs::path> sources{write("text.en", source)};
    const std::vector<fs::path> targets{write("text.de", target)};
    return read_parallel(sources, targets);
  }

  std::string refusal(std::string_view source, std::string_view target) const {
    try {
      read(source, target);
    } catch (const DataError& error) {
      return error.what();
    }
    return "read without an error";
  }

  fs::path write(const std::string& name, std::string_view bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("ballast_parallel_test_" + std::to_string(::getpid()));
};

// C45
TEST_F(ParallelTextFiles, DropsPairsWithABlankSideAndNeverShifts) {
  const ParallelText text =
      read("\xef\xbb\xbfone\r\n\r\nthree\r\n \t\r\nfive\r\n", "eins\nzwei\n\n\nfünf");
  EXPECT_THAT(text.source, ElementsAre("one", "five"));
  EXPECT_THAT(text.target, ElementsAre("eins", "fünf"));
  EXPECT_EQ(text.dropped_one_empty, 2);
  EXPECT_EQ(text.dropped_both_empty, 1);
}

// C45
TEST_F(ParallelTextFiles, NamesBothFilesAndCountsWhenLinesAreMissing) {
  EXPECT_THAT(
      refusal("a\nb\nc\nd\n", "a\nb\n"),
      AllOf(HasSubstr("text.en has 4 lines"), HasSubstr("text.de has 2"), HasSubstr("line 3")));
  EXPECT_THAT(refusal("a\n", "a\nb\nc"), AllOf(HasSubstr("text.de has 3 lines"),
                                               HasSubstr("text.en has 1"), HasSubstr("line 2")));
}

TEST_F(ParallelTextFiles, JoinsSeveralFilesInOrder) {
  const std::vector<fs::path> sources{write("a.en", "1\n2\n"), write("b.en", "3")};
  const std::vector<fs::path> targets{write("a.de", "x\ny"), write("b.de", "z\n")};
  const ParallelText text = read_parallel(sources, targets);
  EXPECT_THAT(text.source, ElementsAre("1", "2", "3"));
  EXPECT_THAT(text.target, ElementsAre("x", "y", "z"));
}

TEST_F(ParallelTextFiles, RefusesASourceFileWithoutATargetFile) {
  const std::vector<fs::path> sources{write("a.en", "1\n")};
  EXPECT_THROW(read_parallel(sources, {}), DataError);
}

TEST_F(ParallelTextFiles, RefusesTheStandardInputOnBothSides) {
  const std::vector<fs::path> both{"-"};
  EXPECT_THROW(read_parallel(both, both), DataError);
}

}  // namespace
}  // namespace ballast
