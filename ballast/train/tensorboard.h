#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "ballast/store/file.h"

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

/// Writes an event file that TensorBoard reads: one new file `events.out.tfevents.*` for each start
/// of a training. All members throw StoreError when the file cannot be written.
class EventWriter {
 public:
  /// TensorBoard forgets what earlier files of the directory say of steps after `resumed_step`.
  EventWriter(const std::filesystem::path& directory, int64_t resumed_step);

  void scalar(int64_t step, std::string_view tag, double value);
  /// Markdown, for example the recipe of a run.
  void text(int64_t step, std::string_view tag, std::string_view text);

  const std::filesystem::path& path() const { return path_; }

 private:
  void write(std::string_view event);

  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace ballast
