#pragma once

#include <stop_token>
#include <thread>

namespace ballast {

/// While alive, SIGINT, SIGTERM and SIGHUP become a stop request, so that a run ends with a saved
/// step; the same signal a second time ends the process at once. A signal that the parent had
/// ignored (nohup) stays ignored. SIGPIPE is ignored: a reader that goes away must not end a
/// training. One at a time.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread watcher_;  // ends before the source does
};

}  // namespace ballast
