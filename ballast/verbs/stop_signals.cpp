#include "ballast/verbs/stop_signals.h"

#include <atomic>
#include <chrono>
#include <csignal>

namespace ballast {
namespace {

// A handler can reach nothing but a global, and it may run in any thread.
std::atomic<bool> signalled = false;

void remember(int) { signalled = true; }

void install(int signal) {
  struct sigaction before {};
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) install(signal);
  std::signal(SIGPIPE, SIG_IGN);
  watcher_ = std::jthread([this](const std::stop_token& ending) {
    while (!ending.stop_requested()) {
      if (signalled) source_.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
}

}  // namespace ballast
