#include "ballast/cli/load_verbs.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "ballast/base/installed.h"
#include "ballast/base/resource_error.h"

namespace ballast {
namespace {

/// The loader's words for a limit that is reached, and the system's for the same.
bool speaks_of_memory(const std::string& reason) {
  return reason.find("map segment") != std::string::npos ||
         reason.find("allocate memory") != std::string::npos;
}

const Verbs& opened() {
  std::string looked;
  for (const std::filesystem::path& folder : module_folders()) {
    const std::string file = (folder / verbs_module).lexically_normal().string();
    std::error_code none;
    if (!std::filesystem::exists(file, none)) {
      looked += fmt::format("\n  {}: not there", file);
      continue;
    }
    // What looks a function of OpenBLAS up by name must find the one that libtorch brings.
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    void* entry = library ? ::dlsym(library, verbs_entry) : nullptr;
    if (entry) return *reinterpret_cast<VerbsEntry>(entry)();
    const std::string reason = ::dlerror();
    if (speaks_of_memory(reason)) {
      throw ResourceError(
          fmt::format("out of memory: {} and libtorch do not fit into the memory "
                      "this process may have; raise its limit (ulimit -v)",
                      verbs_module));
    }
    looked += fmt::format("\n  {}", reason);
  }
  throw StoreError(fmt::format(
      "{} could not be loaded; looked for{}\ninstall Ballast again, or put it beside the program",
      verbs_module, looked));
}

}  // namespace

const Verbs& load_verbs() {
  static const Verbs& verbs = opened();
  return verbs;
}

}  // namespace ballast
