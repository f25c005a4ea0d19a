#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "ballast/store/file.h"

namespace ballast {

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
