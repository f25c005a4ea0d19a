#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

namespace ballast {

/// A helper program that reads from us and answers, and whose end is not ours: it has a stream to
/// us as its standard input, through which it also answers, and nowhere to print to. Signals that
/// ask to stop are blocked in it, so that we decide. It is killed with the object.
class ChildProcess {
 public:
  /// Starts the program. Raises StoreError when it cannot be started.
  explicit ChildProcess(const std::filesystem::path& program);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// False when the program does not read any more.
  bool send(std::string_view bytes);

  /// All that the program answers until it ends, after what was sent is declared to be all. Raises
  /// Stopped soon after `stop` was requested.
  std::string answer(const std::stop_token& stop);

  /// How the program ended, after `answer`: "ended with code 1", "was ended by signal 6 (Aborted)".
  std::string ending() const;
  bool killed() const;  ///< by a signal that no program can raise by a mistake of its own, SIGKILL

 private:
  void wait();

  int stream_ = -1;
  int process_ = -1;
  int status_ = 0;
};

}  // namespace ballast
