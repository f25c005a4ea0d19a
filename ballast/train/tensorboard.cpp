#include "ballast/train/tensorboard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <string>

namespace ballast {

static_assert(std::endian::native == std::endian::little, "records hold little-endian numbers");

namespace {

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

constexpr std::array<uint32_t, 256> make_table() {
  constexpr uint32_t reversed_polynomial = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1) ^ ((rest & 1) != 0 ? reversed_polynomial : 0);
    }
    table[byte] = rest;
  }
  return table;
}

constexpr auto table = make_table();

/// TensorFlow's mask, which lets a checksum be stored among the bytes that it covers.
uint32_t masked_crc(std::string_view bytes) {
  constexpr uint32_t offset = 0xa282ead8;
  return std::rotr(crc32c(bytes), 15) + offset;
}

// Fields of a protocol buffer: a key of number and wire type, then the value.
enum class Wire : uint64_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7) bytes += static_cast<char>(number | 128);
  return bytes + static_cast<char>(number);
}

std::string key(int field, Wire wire) {
  return varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire));
}

std::string number_field(int field, int64_t value) {
  return key(field, Wire::varint) + varint(static_cast<uint64_t>(value));
}

std::string double_field(int field, double value) {
  return key(field, Wire::fixed64) + bytes_of(value);
}

std::string float_field(int field, float value) {
  return key(field, Wire::fixed32) + bytes_of(value);
}

std::string bytes_field(int field, std::string_view value) {
  return (key(field, Wire::bytes) + varint(value.size())).append(value);
}

std::string event(const EventTime& time, std::string_view what) {
  return (double_field(1, time.wall_time) + number_field(2, time.step)).append(what);
}

/// An event whose summary has one value, called `tag`.
std::string summary_event(const EventTime& time, std::string_view tag, std::string_view value) {
  const auto summary_value = bytes_field(1, tag).append(value);
  return event(time, bytes_field(5, bytes_field(1, summary_value)));
}

double now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_1970).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0;
  return known ? name.data() : "host";
}

/// A name that sorts by time, which is the order in which TensorBoard reads the files.
std::filesystem::path new_file(const std::filesystem::path& directory) {
  const auto stem = fmt::format("events.out.tfevents.{:010d}.{}.{}", static_cast<int64_t>(now()),
                                host_name(), ::getpid());
  for (int number = 0;; ++number) {
    auto path = directory / fmt::format("{}.{}", stem, number);
    if (!std::filesystem::exists(path)) return path;
  }
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t rest = ~0U;
  for (const char byte : bytes) {
    rest = (rest >> 8) ^ table[(rest ^ static_cast<uint8_t>(byte)) & 255];
  }
  return ~rest;
}

std::string framed(std::string_view bytes) {
  const auto length = bytes_of<uint64_t>(bytes.size());
  auto record = length + bytes_of(masked_crc(length));
  return record.append(bytes) + bytes_of(masked_crc(bytes));
}

std::string version_event(double wall_time) {
  return double_field(1, wall_time) + bytes_field(3, "brain.Event:2");
}

std::string start_event(const EventTime& time) {
  constexpr int64_t start = 1;
  return event(time, bytes_field(7, number_field(1, start)));
}

std::string scalar_event(const EventTime& time, std::string_view tag, float value) {
  return summary_event(time, tag, float_field(2, value));
}

std::string text_event(const EventTime& time, std::string_view tag, std::string_view text) {
  constexpr int64_t string_type = 7;
  const auto one_element = bytes_field(2, number_field(1, 1));
  const auto tensor =
      number_field(1, string_type) + bytes_field(2, one_element) + bytes_field(8, text);
  const auto metadata = bytes_field(1, bytes_field(1, "text"));
  return summary_event(time, tag, bytes_field(8, tensor) + bytes_field(9, metadata));
}

EventWriter::EventWriter(const std::filesystem::path& directory, int64_t resumed_step)
    : path_(new_file(directory)), file_(open_file(path_, O_WRONLY | O_CREAT | O_EXCL)) {
  write(version_event(now()));
  write(start_event({.wall_time = now(), .step = resumed_step + 1}));
}

void EventWriter::write(std::string_view event) { write_all(file_, framed(event), path_); }

void EventWriter::scalar(int64_t step, std::string_view tag, double value) {
  write(scalar_event({.wall_time = now(), .step = step}, tag, static_cast<float>(value)));
}

void EventWriter::text(int64_t step, std::string_view tag, std::string_view text) {
  write(text_event({.wall_time = now(), .step = step}, tag, text));
}

}  // namespace ballast
