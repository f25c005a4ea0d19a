#include "ballast/cli/load_verbs.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "ballast/base/error.h"
#include "ballast/base/installed.h"

namespace ballast {
namespace {

/// The loader's words for a limit that is reached, and the system's for the same.
bool speaks_of_memory(const std::string& reason) {
  return reason.find("map segment") != std::string::npos ||
         reason.find("allocate memory") != std::string::npos;
}

constexpr std::string_view no_room =
    "out of memory: ballast_verbs.so and libtorch do not fit into the memory this process may "
    "have; "
    "raise its limit (ulimit -v)";

/// Reached when something of libtorch that starts by itself throws, for which it needs memory.
[[noreturn]] void not_loaded() {
  const std::string text = fmt::format("ballast: {}\n", no_room);
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) + 1);
  std::_Exit(1);
}

/// With less address space, libraries that start by themselves end the process or never return.
void refuse_little_room() {
  constexpr rlim_t least = 900'000'000;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < least) {
    throw ResourceError(std::string(no_room));
  }
}

void* loaded(const std::string& file) {
  const auto before = std::set_terminate(not_loaded);
  // What looks a function of OpenBLAS up by name must find the one that libtorch brings.
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  std::set_terminate(before);
  return library;
}

const Verbs& opened() {
  refuse_little_room();
  const Verbs* verbs = nullptr;
  open_module(verbs_module, [&](const std::string& file) -> std::string {
    void* library = loaded(file);
    void* entry = library ? ::dlsym(library, verbs_entry) : nullptr;
    if (entry) {
      verbs = reinterpret_cast<VerbsEntry>(entry)();
      return {};
    }
    std::string reason = ::dlerror();
    if (speaks_of_memory(reason)) throw ResourceError(std::string(no_room));
    return reason;
  });
  return *verbs;
}

}  // namespace

const Verbs& load_verbs() {
  static const Verbs& verbs = opened();
  return verbs;
}

}  // namespace ballast
