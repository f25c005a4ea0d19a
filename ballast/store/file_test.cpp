#include "ballast/store/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "ballast/base/error.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class D03 : public ::testing::Test {
 protected:
  /// What a reader of a FIFO gets while `write` runs.
  template <class Write>
  static std::string received(const fs::path& fifo, Write write) {
    std::string got;
    std::jthread reader([&] {
      const Descriptor file = open_file(fifo, O_RDONLY);
      char bytes[64];
      for (ssize_t count; (count = ::read(file.number(), bytes, sizeof bytes)) > 0;) {
        got.append(bytes, static_cast<size_t>(count));
      }
    });
    write();
    reader.join();
    return got;
  }

  fs::path fifo() {
    const fs::path path = directory_ / "fifo";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  static void stream(const fs::path& path, std::string_view text) {
    OutputStream out(path);
    out.write(text);
    out.close();
  }

  TemporaryDirectory directory_;
};

TEST_F(D03, ALinkStaysALinkAndItsEndIsWritten) {
  fs::create_directory(directory_ / "far");
  write_file(directory_ / "far/end", "old");
  fs::create_symlink("far/end", directory_ / "near");
  fs::create_symlink("near", directory_ / "link");
  for (const auto* text : {"whole", "streamed"}) {
    text == std::string("whole") ? write_file(directory_ / "link", text)
                                 : stream(directory_ / "link", text);
    EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
    EXPECT_EQ(fs::read_symlink(directory_ / "near"), "far/end");
    EXPECT_EQ(read_file(directory_ / "far/end"), text);
  }
}

TEST_F(D03, ALinkToWhatIsNotYetThereMakesItsEnd) {
  fs::create_symlink("missing", directory_ / "link");
  write_file(directory_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read_file(directory_ / "missing"), "new");
}

TEST_F(D03, LinksInACircleAreRefused) {
  fs::create_symlink("b", directory_ / "a");
  fs::create_symlink("a", directory_ / "b");
  const auto refused = ThrowsMessage<StoreError>(
      AllOf(HasSubstr((directory_ / "a").string()), HasSubstr("symbolic links")));
  EXPECT_THAT([&] { write_file(directory_ / "a", ""); }, refused);
  EXPECT_THAT([&] { OutputStream(directory_ / "a"); }, refused);
}

TEST_F(D03, AFifoIsWrittenIntoAndStaysOne) {
  const fs::path path = fifo();
  EXPECT_EQ(received(path, [&] { write_file(path, "whole"); }), "whole");
  EXPECT_EQ(received(path, [&] { stream(path, "streamed"); }), "streamed");
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_FALSE(fs::exists(directory_ / "fifo.partial"));
}

TEST_F(D03, ADeviceIsWrittenInto) {
  write_file("/dev/null", "gone");
  stream("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(fs::exists("/dev/null.partial"));
  const auto full = ThrowsMessage<StoreError>(HasSubstr("/dev/full: cannot write: No space left"));
  EXPECT_THAT([] { write_file("/dev/full", "lost"); }, full);
  EXPECT_THAT([] { stream("/dev/full", "lost"); }, full);
}

TEST_F(D03, ANeighbourCalledPartialIsNotTouched) {
  write_file(directory_ / "neighbour", "the user's");
  fs::rename(directory_ / "neighbour", directory_ / "x.partial");
  fs::create_directory(directory_ / "x.1.partial");
  write_file(directory_ / "x", "ours");
  EXPECT_EQ(read_file(directory_ / "x"), "ours");
  EXPECT_EQ(read_file(directory_ / "x.partial"), "the user's");
  EXPECT_FALSE(fs::exists(directory_ / "x.2.partial"));
  { NewFile given_up(directory_ / "x"); }
  EXPECT_EQ(read_file(directory_ / "x.partial"), "the user's");
  EXPECT_FALSE(fs::exists(directory_ / "x.2.partial"));
}

TEST_F(D03, AFileThatIsReplacedHandsDownItsPermissions) {
  write_file(directory_ / "x", "old");
  ASSERT_EQ(::chmod((directory_ / "x").c_str(), 0640), 0);
  write_file(directory_ / "x", "new");
  struct stat facts {};
  ASSERT_EQ(::stat((directory_ / "x").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0640u);
}

TEST_F(D03, WhatWasStreamedIsThereBeforeTheEnd) {
  write_file(directory_ / "x", "longer than what comes");
  OutputStream out(directory_ / "x");
  EXPECT_EQ(read_file(directory_ / "x"), "");
  out.write("first\n");
  EXPECT_EQ(read_file(directory_ / "x"), "first\n");
  out.write("second\n");
  out.close();
  EXPECT_EQ(read_file(directory_ / "x"), "first\nsecond\n");
}

}  // namespace
}  // namespace ballast
