#include "ballast/train/tensorboard.h"

#include <gmock/gmock.h>

#include <string>

#include "ballast/base/error.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Bytes given as text of two hexadecimal digits each.
std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283);              // the check value of the polynomial
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AA);    // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(""), 0);
}

// The records below were made by tensorboard 2.21: RecordWriter of event_pb2.Event.
TEST(EventRecord, EqualsThatOfTensorBoardForTheVersion) {
  EXPECT_EQ(framed(version_event(1.5)),
            from_hex("1800000000000000a37f4b2209000000000000f83f1a0d6272"
                     "61696e2e4576656e743a322a28646c"));
}

TEST(EventRecord, EqualsThatOfTensorBoardForAStart) {
  EXPECT_EQ(framed(start_event({.wall_time = 1.5, .step = 301})),
            from_hex("100000000000000095fbfe1809000000000000f83f10ad023a020801d17949d4"));
}

TEST(EventRecord, EqualsThatOfTensorBoardForAScalar) {
  EXPECT_EQ(
      framed(scalar_event({.wall_time = 1.5, .step = 300}, "loss", 2.5)),
      from_hex("1b000000000000001a0d9e1309000000000000f83f10ac022a0d0a0b0a046c6f7373150000204068"
               "997c51"));
}

TEST(EventRecord, EqualsThatOfTensorBoardForAText) {
  EXPECT_EQ(
      framed(text_event({.wall_time = 1.5, .step = 300}, "t", "hi")),
      from_hex("2b00000000000000861bc34b09000000000000f83f10ac022a1d0a1b0a0174420c08071204120208"
               "01420268694a080a060a0474657874d854fefc"));
}

TEST(EventFile, IsNamedAndBegunAsTensorBoardExpects) {
  const TemporaryDirectory directory;
  const EventWriter first(directory.path(), 0);
  const EventWriter second(directory.path(), 0);
  EXPECT_NE(first.path(), second.path());
  EXPECT_THAT(first.path().filename().string(), StartsWith("events.out.tfevents."));
  EXPECT_THAT(read_file(first.path()), HasSubstr("brain.Event:2"));
}

TEST(EventFile, GrowsWithEveryEvent) {
  const TemporaryDirectory directory;
  EventWriter writer(directory.path(), 0);
  writer.scalar(1, "loss", 3.5);
  EXPECT_THAT(read_file(writer.path()), HasSubstr("loss"));
  writer.text(1, "recipe", "seed = 1");
  EXPECT_THAT(read_file(writer.path()), HasSubstr("seed = 1"));
}

TEST(EventFile, ThatCannotBeWrittenIsRefused) {
  EXPECT_THROW(EventWriter("/nonexistent", 0), StoreError);
}

}  // namespace
}  // namespace ballast
