#include "ballast/data/text.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "ballast/base/error.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class Text : public ::testing::Test {
 protected:
  Text() { fs::create_directories(folder_); }
  ~Text() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, std::string_view bytes) const {
    const fs::path file = folder_ / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  std::string refusal(const fs::path& file) const {
    try {
      read_lines(file);
    } catch (const DataError& error) {
      return error.what();
    }
    return "read without an error";
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("ballast_text_test_" + std::to_string(::getpid()));
};

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

TEST_F(Text, EndsLinesAtLineFeedsAndAtTheEndOfTheFile) {
  EXPECT_THAT(read_lines(write("a", "one\ntwo\n")), ElementsAre("one", "two"));
  EXPECT_THAT(read_lines(write("b", "one\ntwo")), ElementsAre("one", "two"));
  EXPECT_THAT(read_lines(write("c", "\n\nx")), ElementsAre("", "", "x"));
  EXPECT_THAT(read_lines(write("d", "")), IsEmpty());
}

TEST_F(Text, StripsOneCarriageReturnAndTheByteOrderMark) {
  EXPECT_THAT(read_lines(write("a", "\xef\xbb\xbfone\r\ntwo\r\r\nt\rhree\r\n")),
              ElementsAre("one", "two\r", "t\rhree"));
  EXPECT_THAT(read_lines(write("b", "one\n\xef\xbb\xbftwo\n")),
              ElementsAre("one", "\xef\xbb\xbftwo"));
  EXPECT_THAT(read_lines(write("c", "\xef\xbb\xbf")), IsEmpty());
}

TEST_F(Text, KeepsOtherLineSeparatorsInsideTheLine) {
  const std::string line = "a\xe2\x80\xa8z\x0b\x1cw";
  EXPECT_THAT(read_lines(write("a", line + "\n")), ElementsAre(line));
}

TEST_F(Text, ReadsPackedTextWhateverItsName) {
  EXPECT_THAT(read_lines(write("a.gz", gzip("one\ntwo\n"))), ElementsAre("one", "two"));
  EXPECT_THAT(read_lines(write("a.txt", gzip("one\n"))), ElementsAre("one"));
  EXPECT_THAT(read_lines(write("a.zst", zstd("one\ntwo"))), ElementsAre("one", "two"));
  EXPECT_THAT(read_lines(write("b.txt", zstd("one\n"))), ElementsAre("one"));
  EXPECT_THAT(read_lines(write("plain.gz", "one\n")), ElementsAre("one"));
}

TEST_F(Text, ReadsEveryMemberAndFrameOfPackedText) {
  EXPECT_THAT(read_lines(write("a.gz", gzip("one\nt") + gzip("") + gzip("wo\n"))),
              ElementsAre("one", "two"));
  EXPECT_THAT(read_lines(write("b.gz", gzip("one\n") + std::string(700, '\0'))),
              ElementsAre("one"));
  EXPECT_THAT(read_lines(write("a.zst", zstd("one\nt") + zstd("wo\n"))), ElementsAre("one", "two"));
}

TEST_F(Text, ReadsLinesThatSpanManyBuffers) {
  const std::string longer(300'000, 'x');
  EXPECT_THAT(read_lines(write("a.gz", gzip(longer + "\n" + longer + "y\nz"))),
              ElementsAre(longer, longer + "y", "z"));
}

TEST_F(Text, RefusesTruncatedPackedText) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919) + "\n";
  const std::string gz = gzip(text), zst = zstd(text);
  for (const std::size_t kept : {1UL, 5UL, gz.size() / 2, gz.size() - 8, gz.size() - 1}) {
    EXPECT_THAT(refusal(write("cut.gz", gz.substr(0, kept))), HasSubstr("truncated")) << kept;
  }
  for (const std::size_t kept : {1UL, 4UL, zst.size() / 2, zst.size() - 1}) {
    EXPECT_THAT(refusal(write("cut.zst", zst.substr(0, kept))), HasSubstr("truncated")) << kept;
  }
  EXPECT_THAT(refusal(write("empty.gz", "")), HasSubstr("truncated"));
}

TEST_F(Text, RefusesDamagedPackedText) {
  std::string gz = gzip("a line of text\n");
  gz[gz.size() - 6] ^= 1;
  EXPECT_THAT(refusal(write("crc.gz", gz)), HasSubstr("incorrect data check"));
  EXPECT_THAT(refusal(write("tail.gz", gzip("one\n") + "garbage")), HasSubstr("damaged"));
  std::string zst = zstd(std::string(1000, 'a'));
  zst[5] ^= 0x7f;
  EXPECT_THAT(refusal(write("bad.zst", zst)), HasSubstr("zst"));
}

TEST_F(Text, NamesFileLineAndByteOfInvalidUtf8) {
  const fs::path file = write("latin1.txt", "good\nna\xefve\n");
  EXPECT_THAT(refusal(file),
              AllOf(HasSubstr(file.string() + ":2:"), HasSubstr("byte 3"), HasSubstr("0xEF")));
}

TEST_F(Text, RefusesFormatsThatAreNoText) {
  EXPECT_THAT(refusal(write("a", std::string_view("\xff\xfe"
                                                  "a\0",
                                                  4))),
              HasSubstr("UTF-16"));
  EXPECT_THAT(refusal(write("a.xz", std::string_view("\xfd"
                                                     "7zXZ\0",
                                                     6))),
              HasSubstr("xz"));
}

TEST_F(Text, RefusesWhatCannotBeRead) {
  EXPECT_THAT(refusal(folder_ / "missing"), HasSubstr("cannot be opened: No such file"));
  EXPECT_THAT(refusal(folder_), HasSubstr("is a directory"));
}

TEST_F(Text, RefusesAFileThatUnpacksToOneEndlessLine) {
  const fs::path file = write("bomb.zst", zstd(std::string(longest_line + (1 << 20), 'x')));
  EXPECT_LT(fs::file_size(file), 1 << 16);
  EXPECT_THAT(refusal(file), HasSubstr("longer than"));
}

TEST(Utf8, AcceptsExactlyTheWellFormed) {
  for (const std::string_view good :
       {"", "plain ascii text", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_valid_utf8(good)) << good;
  }
  for (const std::string_view bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff\xfe", "\xe2\x82", "\xc3"}) {
    EXPECT_EQ(valid_utf8_prefix(std::string("12345678") + std::string(bad)), 8U);
  }
}

/// Writes into a FIFO that a reader has open as well.
class Fifo {
 public:
  explicit Fifo(const fs::path& path) : path_(path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    writing_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Fifo() { close(); }

  const fs::path& path() const { return path_; }
  void write(std::string_view bytes) const {
    ASSERT_EQ(::write(writing_, bytes.data(), bytes.size()), std::ssize(bytes));
  }
  void close() {
    if (writing_ >= 0) ::close(writing_);
    writing_ = -1;
  }

 private:
  fs::path path_;
  int writing_;
};

TEST(Utf8, IsMadeWellFormedByReplacing) {
  EXPECT_EQ(valid_utf8("a\xE2\x82z\xFF\u00fc"), "a\uFFFDz\uFFFD\u00fc");
  EXPECT_EQ(valid_utf8(""), "");
}

TEST_F(Text, ALineIsReadAsSoonAsItIsThereAndReadySaysWhen) {
  Fifo fifo(folder_ / "fifo");
  fifo.write("B\n");  // fewer bytes than tell the formats of files apart, and the front of one
  LineReader reader(fifo.path());
  EXPECT_TRUE(reader.ready());
  EXPECT_EQ(reader.next(), "B");
  EXPECT_FALSE(reader.ready());
  fifo.write("half");
  EXPECT_FALSE(reader.ready());
  fifo.write(" and half\nnext\nrest");
  EXPECT_TRUE(reader.ready());
  EXPECT_EQ(reader.next(), "half and half");
  EXPECT_TRUE(reader.ready());
  EXPECT_EQ(reader.next(), "next");
  EXPECT_FALSE(reader.ready());
  fifo.close();
  EXPECT_TRUE(reader.ready());
  EXPECT_EQ(reader.next(), "rest");
  EXPECT_TRUE(reader.ready());
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST_F(Text, FilesAreAlwaysReady) {
  for (const auto& [name, bytes] :
       {std::pair{"plain", std::string("a\nb")}, {"packed.gz", gzip("a\nb")}}) {
    LineReader reader(write(name, bytes));
    for (const char* line : {"a", "b"}) {
      EXPECT_TRUE(reader.ready());
      EXPECT_EQ(reader.next(), line);
    }
    EXPECT_TRUE(reader.ready());
    EXPECT_EQ(reader.next(), std::nullopt);
  }
}

}  // namespace
}  // namespace ballast
