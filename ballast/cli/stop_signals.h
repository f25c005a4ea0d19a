#pragma once

#include <stop_token>
#include <thread>

namespace ballast {

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request, so that a run ends with a saved step; the
/// same signal a second time ends the process at once. SIGPIPE is ignored: a reader that goes away
/// must not end a training. Made before any other thread, for they inherit what it blocks.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread listener_;
};

}  // namespace ballast
