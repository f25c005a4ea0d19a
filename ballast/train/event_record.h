#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ballast {

/// CRC-32C (Castagnoli polynomial, RFC 3720), the checksum of TensorFlow's record files.
uint32_t crc32c(std::string_view bytes);

/// Frames bytes as TensorFlow's record files do: length, its checksum, bytes, their checksum; all
/// numbers little-endian, checksums rotated and offset.
std::string framed(std::string_view bytes);

/// When an event happened: seconds since 1970 and the training step.
struct EventTime {
  double wall_time = 0;
  int64_t step = 0;
};

/// The messages of TensorBoard's event files that we write (tensorboard/compat/proto/event.proto),
/// in the wire format of protocol buffers.
std::string version_event(double wall_time);
/// A training starts or goes on: TensorBoard forgets what an earlier file says from this step on.
std::string start_event(const EventTime& time);
std::string scalar_event(const EventTime& time, std::string_view tag, float value);
std::string text_event(const EventTime& time, std::string_view tag, std::string_view text);

}  // namespace ballast
