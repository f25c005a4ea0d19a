#include "ballast/train/progress.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace ballast {

namespace {

constexpr double window = 60;              // seconds over which the rate is taken
constexpr double terminal_interval = 0.1;  // seconds between two showings
constexpr double plain_interval = 30;
constexpr std::string_view erase_line = "\r\x1b[K";

struct Unit {
  std::string_view name;
  int64_t seconds;
};

/// The two largest units of a whole number of seconds, the smaller only when it is not zero.
std::string in_units(int64_t seconds) {
  constexpr std::array<Unit, 4> units{{{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}}};
  size_t largest = 0;
  while (largest + 1 < units.size() && seconds < units[largest].seconds) ++largest;
  const auto [name, size] = units[largest];
  const auto text = fmt::format("{} {}", seconds / size, name);
  if (largest + 1 == units.size()) return text;
  const auto& smaller = units[largest + 1];
  const int64_t rest = seconds % size / smaller.seconds;
  return rest == 0 ? text : fmt::format("{} {} {}", text, rest, smaller.name);
}

}  // namespace

std::string human_duration(double seconds) {
  constexpr double longest = 1e13;
  if (!(seconds >= 0 && seconds < longest)) return "?";
  return seconds < 9.95 ? fmt::format("{:.1f} s", seconds) : in_units(std::llround(seconds));
}

std::string human_count(double count) {
  if (!(count >= 0) || std::isinf(count)) return "?";
  constexpr std::string_view units = "kMGTP";
  size_t unit = 0;
  for (; count >= 999.5 && unit < units.size(); ++unit) count /= 1000;
  const int decimals = count < 9.995 ? 2 : count < 99.95 ? 1 : 0;
  const auto digits = fmt::format("{:.{}f}", count, decimals);
  return unit == 0 ? digits : digits + units[unit - 1];
}

ProgressRate rate_between(const ProgressPoint& older, const ProgressPoint& newer) {
  const double seconds = newer.seconds - older.seconds;
  if (seconds <= 0) return {};
  return {.tokens_per_second = static_cast<double>(newer.tokens - older.tokens) / seconds,
          .steps_per_second = static_cast<double>(newer.step - older.step) / seconds};
}

std::string progress_line(const ProgressPoint& point, int64_t last_step, const ProgressRate& rate) {
  const double left = static_cast<double>(last_step - point.step) / rate.steps_per_second;
  return fmt::format("step {}/{} | {} tokens/s | loss {:.4g} | lr {:.1e} | {} left", point.step,
                     last_step, human_count(rate.tokens_per_second), point.loss, point.lr,
                     human_duration(left));
}

Progress::Progress(std::ostream& out, Terminal terminal, int64_t last_step)
    : out_(out), terminal_(terminal), last_step_(last_step) {}

Progress::~Progress() {
  if (line_open_) out_ << std::endl;
}

void Progress::remember(const ProgressPoint& point) {
  recent_.push_back(point);
  while (recent_.size() > 2 && recent_[1].seconds <= point.seconds - window) recent_.pop_front();
}

void Progress::show(const ProgressPoint& point) {
  remember(point);
  if (point.seconds < next_show_ && point.step != last_step_) return;
  next_show_ = point.seconds + (terminal_ == Terminal::yes ? terminal_interval : plain_interval);
  const auto line = progress_line(point, last_step_, rate_between(recent_.front(), point));
  if (terminal_ == Terminal::yes) {
    out_ << erase_line << line << std::flush;
    line_open_ = true;
  } else {
    out_ << line << std::endl;
  }
}

void Progress::note(std::string_view text) {
  if (line_open_) out_ << erase_line;
  line_open_ = false;
  out_ << text << std::endl;
}

}  // namespace ballast
