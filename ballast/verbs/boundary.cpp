#include "ballast/verbs/boundary.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>

#include "ballast/base/error.h"
#include "ballast/train/progress.h"

namespace ballast {
namespace {

/// libtorch appends where in its sources it was, line by line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool speaks_of_memory(const std::string& text) {
  return text.find("allocate memory") != std::string::npos ||
         text.find("out of memory") != std::string::npos ||
         text.find("Storage size calculation overflowed") != std::string::npos;
}

/// "out of memory: 4.00TB more were asked for; ..."
std::string out_of_memory(const std::string& library, std::string_view remedy) {
  static const std::regex amount("allocate ([0-9]+) bytes");
  std::smatch found;
  if (!std::regex_search(library, found, amount)) {
    return fmt::format("out of memory; {}", remedy);
  }
  return fmt::format("out of memory: {}B more were asked for; {}", human_count(std::stod(found[1])),
                     remedy);
}

/// Reached where an exception cannot go on, such as out of a destructor or a thread of a library.
[[noreturn]] void last_words() {
  std::string text = "a library ended the program";
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const c10::Error& error) {
    text = first_line(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    text = "out of memory; ask for less at once, such as train.batch_tokens or --threads";
  } catch (const std::exception& error) {
    text = first_line(error.what());
  } catch (...) {
    // Nothing is known of it.
  }
  text = fmt::format("ballast: {}\n", text);
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) + 1);
  std::_Exit(1);
}

}  // namespace

void at_boundary(std::string_view remedy, const std::function<void()>& work) {
  std::set_terminate(last_words);
  try {
    work();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (speaks_of_memory(text)) throw ResourceError(out_of_memory(text, remedy));
    throw std::runtime_error(first_line(text));
  } catch (const std::bad_alloc&) {
    throw ResourceError(out_of_memory("", remedy));
  } catch (const std::length_error&) {
    throw ResourceError(out_of_memory("", remedy));
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    throw ResourceError(
        "the system gives no further thread; lower --threads, or raise the limits "
        "of memory and processes (ulimit -v, ulimit -u)");
  }
}

}  // namespace ballast
