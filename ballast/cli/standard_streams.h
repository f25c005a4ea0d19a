#pragma once

#include <system_error>

namespace ballast {

/// Opens /dev/null for each of standard input, output and error that is closed, so that no file of
/// a run gets their number and what is said there. To be called before any file is opened.
void open_standard_streams();

/// Hands on everything that was printed. Where standard output did not take it, says so on standard
/// error and returns the exit code for that, unless `code` is already one of an error. `failure` is
/// the reason of a write that failed before, where it is known.
int flushed(int code, std::error_code failure);

}  // namespace ballast
