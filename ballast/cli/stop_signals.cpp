#include "ballast/cli/stop_signals.h"

#include <csignal>
#include <ctime>

namespace ballast {
namespace {

sigset_t stopping_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stopping_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  listener_ = std::jthread([this, set](const std::stop_token& ending) {
    while (!ending.stop_requested()) {
      const timespec moment{.tv_sec = 0, .tv_nsec = 100'000'000};
      if (sigtimedwait(&set, nullptr, &moment) < 0) continue;
      source_.request_stop();
      pthread_sigmask(SIG_UNBLOCK, &set, nullptr);  // a second signal finds its default action
    }
  });
}

StopSignals::~StopSignals() {
  listener_.request_stop();
  listener_.join();
  const sigset_t set = stopping_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace ballast
