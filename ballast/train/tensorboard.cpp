#include "ballast/train/tensorboard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "ballast/train/event_record.h"

namespace ballast {

namespace {

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
