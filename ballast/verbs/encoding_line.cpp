#include "ballast/verbs/encoding_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "ballast/train/progress.h"

namespace ballast {

EncodingLine::EncodingLine(std::string name)
    : name_(std::move(name)),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      begun_(Clock::now()),
      shown_(begun_) {}

EncodingLine::~EncodingLine() {
  if (is_open_) fmt::print(stderr, "\r\033[K");
}

void EncodingLine::show(const EncodingProgress& progress) {
  if (!is_terminal_) return;
  if (first_ids_ < 0) first_ids_ = progress.ids;
  const auto now = Clock::now();
  constexpr std::chrono::milliseconds between(200);
  if (now - shown_ < between) return;
  shown_ = now;
  is_open_ = true;
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  const auto total = static_cast<double>(std::max<int64_t>(progress.total_bytes, 1));
  fmt::print(stderr, "\r\033[K{}: {:.0f} % read, {} tokens, {} tokens/s", name_,
             100 * static_cast<double>(progress.bytes) / total,
             human_count(static_cast<double>(progress.ids)),
             human_count(static_cast<double>(progress.ids - first_ids_) / seconds));
  std::fflush(stderr);
}

}  // namespace ballast
