#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ballast/base/error.h"
#include "ballast/data/tokenizer.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Lines = std::vector<std::string>;

Tokenizer words(const Lines& lines) { return Tokenizer::from_words(lines, "words.txt"); }

std::string refusal(const Lines& lines) {
  try {
    words(lines);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Words, FindSpecialOnesByTheirUsualNames) {
  const Tokenizer found = words({"<unk>", "a", "</s>", "<pad>", "b", "<s>"});
  EXPECT_EQ(found.size(), 6);
  EXPECT_EQ(found.pad_id(), 3);
  EXPECT_EQ(found.unknown_id(), 0);
  EXPECT_EQ(found.begin_id(), 5);
  EXPECT_EQ(found.end_id(), 2);
  const Tokenizer other = words({"<blank>", "<unk>", "<bos>", "<eos>"});
  EXPECT_EQ(other.pad_id(), 0);
  EXPECT_EQ(other.begin_id(), 2);
  EXPECT_EQ(other.end_id(), 3);
  EXPECT_EQ(other.size(), 4);
}

TEST(Words, PutSpecialOnesThatAreMissingInFrontAsFairseqDoes) {
  const Tokenizer found = words({"the 120", "cat 7", "5 3"});
  EXPECT_EQ(found.size(), 7);
  EXPECT_EQ(found.begin_id(), 0);
  EXPECT_EQ(found.pad_id(), 1);
  EXPECT_EQ(found.end_id(), 2);
  EXPECT_EQ(found.unknown_id(), 3);
  EXPECT_THAT(found.encode("cat the 5 120"), ElementsAre(5, 4, 6, 3));
}

TEST(Words, SplitAtSpacesAndJoinByThem) {
  const Tokenizer found = words({"<pad>", "<unk>", "<s>", "</s>", "a", "b,"});
  EXPECT_THAT(found.encode("  a \t b, c a"), ElementsAre(4, 5, 1, 4));
  EXPECT_EQ(found.decode(found.encode("a b, c")), "a b, \u2047");
  EXPECT_EQ(found.decode(std::vector<int64_t>{2, 4, 0, 5, 3}), "a b,");
  EXPECT_THAT(found.encode(" \t "), IsEmpty());
  EXPECT_EQ(found.piece(2).kind, PieceKind::control);
  EXPECT_EQ(found.piece(1).kind, PieceKind::unknown);
  EXPECT_EQ(found.piece(5).text, "b,");
}

TEST(Words, LetNoTextSpellASpecialId) {
  const Tokenizer found = words({"<pad>", "<unk>", "<s>", "</s>", "a"});
  EXPECT_THAT(found.encode("<s> a </s> <pad> <unk>"), ElementsAre(1, 4, 1, 1, 1));
}

TEST(Words, ComeBackFromTheirLines) {
  const Tokenizer found = words({"the 120", "cat 7"});
  Lines lines;
  std::string rest = found.serialized();
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos;) {
    lines.push_back(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  EXPECT_EQ(words(lines).serialized(), found.serialized());
  EXPECT_EQ(words(lines).encode("cat the"), found.encode("cat the"));
}

TEST(Words, RefuseWhatIsNoListOfWords) {
  EXPECT_THAT(refusal({}), HasSubstr("words.txt: there is no word"));
  EXPECT_THAT(refusal({"a", "", "b"}), HasSubstr("words.txt:2: the line has 0 words"));
  EXPECT_THAT(refusal({"a", "b c"}), HasSubstr("words.txt:2: the line has 2 words"));
  EXPECT_THAT(refusal({"a 3", "b"}), HasSubstr("words.txt:1: the line has 2 words"));
  EXPECT_THAT(refusal({"a", "b", "a"}),
              HasSubstr("words.txt:3: \"a\" is there already, in line 1"));
}

}  // namespace
}  // namespace ballast
