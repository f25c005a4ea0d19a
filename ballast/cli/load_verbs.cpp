#include "ballast/cli/load_verbs.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "ballast/base/error.h"
#include "ballast/base/installed.h"

namespace ballast {
namespace {

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
    looked += fmt::format("\n  {}", ::dlerror());
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
