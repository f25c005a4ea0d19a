#pragma once

#include <cstdint>
#include <deque>
#include <ostream>
#include <string>
#include <string_view>

namespace ballast {

/// Whether lines can be rewritten (a terminal) or stay (a file, a pipe).
enum class Terminal { no, yes };

/// "0.4 s", "12 s", "3 min 20 s", "2 h 5 min", "4 d 3 h"; "?" for what is no duration.
std::string human_duration(double seconds);

/// Three digits with a unit: "7.50", "930", "12.3k", "4.56M"; "?" for what is no count.
std::string human_count(double count);

/// Where a training stands. Tokens and seconds count from the start of this process.
struct ProgressPoint {
  int64_t step = 0;
  int64_t tokens = 0;
  double seconds = 0;
  double loss = 0;
  double lr = 0;
};

/// How fast it goes, between two points.
struct ProgressRate {
  double tokens_per_second = 0;
  double steps_per_second = 0;
};

/// From the older to the newer point; zero when no time lies between them.
ProgressRate rate_between(const ProgressPoint& older, const ProgressPoint& newer);

/// "step 800/10000 | 12.3k tokens/s | loss 4.321 | lr 7.1e-04 | 3 min 20 s left"
std::string progress_line(const ProgressPoint& point, int64_t last_step, const ProgressRate& rate);

/// Shows progress: one line that is rewritten on a terminal, now and then a line otherwise. The
/// rate is that of the last minute.
class Progress {
 public:
  /// `out` must outlive this.
  Progress(std::ostream& out, Terminal terminal, int64_t last_step);
  /// Ends a line that is still open.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the point unless another was shown a moment ago; the last step is always shown.
  void show(const ProgressPoint& point);

  /// Prints a line of its own, such as "saved step 8000".
  void note(std::string_view text);

 private:
  void remember(const ProgressPoint& point);

  std::ostream& out_;
  Terminal terminal_;
  int64_t last_step_;
  std::deque<ProgressPoint> recent_;
  double next_show_ = 0;  ///< seconds
  bool line_open_ = false;
};

}  // namespace ballast
