#include "ballast/cli/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <system_error>

namespace ballast {

void open_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is the one that is closed.
    if (::open("/dev/null", O_RDWR) != number) std::_Exit(1);
  }
}

int flushed(int code, std::error_code failure) {
  constexpr int output_error = 3;
  errno = failure.value();
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!failed) return code;
  const std::string reason =
      errno == 0 ? "a write failed before" : std::generic_category().message(errno);
  fmt::print(stderr, "ballast: standard output: cannot be written: {}\n", reason);
  return code == 0 ? output_error : code;
}

}  // namespace ballast
