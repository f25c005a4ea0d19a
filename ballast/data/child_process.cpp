#include "ballast/data/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr int patience_ms = 50;  // between two looks at whether to stop

/// What `posix_spawn` is told, freed at the end.
class SpawnSettings {
 public:
  explicit SpawnSettings(int stream) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, stream, STDIN_FILENO);
    for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, output, "/dev/null", O_WRONLY, 0);
    }
    posix_spawnattr_init(&attributes_);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, signal);
    posix_spawnattr_setsigmask(&attributes_, &blocked);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

[[noreturn]] void refuse(const std::filesystem::path& program, int error) {
  throw StoreError(fmt::format("{}: cannot be started: {}; install Ballast again", program.string(),
                               std::strerror(error)));
}

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& program) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    refuse(program, errno);
  }
  stream_ = ends[0];
  const SpawnSettings settings(ends[1]);
  std::string name = program.string();
  std::array<char*, 2> arguments{name.data(), nullptr};
  const int error = ::posix_spawn(&process_, name.c_str(), settings.actions(),
                                  settings.attributes(), arguments.data(), environ);
  ::close(ends[1]);
  if (error == 0) return;
  ::close(stream_);
  refuse(program, error);
}

ChildProcess::~ChildProcess() {
  ::close(stream_);
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  wait();
}

void ChildProcess::wait() {
  while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

bool ChildProcess::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(stream_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string ChildProcess::answer(const std::stop_token& stop) {
  ::shutdown(stream_, SHUT_WR);
  std::string bytes;
  std::array<char, 1 << 16> part{};
  for (;;) {
    if (stop.stop_requested()) throw Stopped("stopped as asked");
    pollfd waiting{stream_, POLLIN, 0};
    if (::poll(&waiting, 1, patience_ms) <= 0) continue;
    const ssize_t count = ::recv(stream_, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    bytes.append(part.data(), static_cast<std::size_t>(count));
  }
  wait();
  return bytes;
}

std::string ChildProcess::ending() const {
  if (WIFSIGNALED(status_)) {
    const int signal = WTERMSIG(status_);
    return fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
  }
  return fmt::format("ended with code {}", WEXITSTATUS(status_));
}

bool ChildProcess::killed() const { return WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL; }

}  // namespace ballast
