#include "ballast/data/sentencepiece_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "ballast/base/error.h"
#include "ballast/base/installed.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
namespace spm = sentencepiece_module;

// A symbol of the module must bind to its own protobuf before any that the process already has.
// AddressSanitizer refuses that flag of dlopen, since a module might get past its malloc; ours
// names the sanitizer's library before all others, so it does not. dlmopen is not watched.
void* open(const std::string& file) {
  return ::dlmopen(LM_ID_BASE, file.c_str(), RTLD_NOW | RTLD_NODELETE | RTLD_LOCAL | RTLD_DEEPBIND);
}

SentencePieceLibrary library_of(void* module, const std::string& file) {
  const auto entry = reinterpret_cast<spm::Entry>(::dlsym(module, spm::entry_name));
  Dl_info place{};
  if (entry != nullptr && ::dladdr(reinterpret_cast<void*>(entry), &place) != 0) {
    return {*entry(), fs::absolute(place.dli_fname).parent_path()};
  }
  throw StoreError(fmt::format("{} is not Ballast's SentencePiece module; install it again", file));
}

SentencePieceLibrary load() {
  std::string looked;
  for (const fs::path& folder : module_folders()) {
    const std::string file = (folder / spm::file_name).lexically_normal().string();
    std::error_code none;
    if (!fs::exists(file, none)) {
      looked += fmt::format("\n  {}: not there", file);
    } else if (void* module = open(file)) {
      return library_of(module, file);
    } else {
      looked += fmt::format("\n  {}: {}", file, ::dlerror());
    }
  }
  if (void* module = open(spm::file_name)) return library_of(module, spm::file_name);
  throw StoreError(
      fmt::format("the SentencePiece module could not be loaded; looked for{}\ninstall Ballast "
                  "again, or put {} "
                  "beside the program",
                  looked, spm::file_name));
}

}  // namespace

const SentencePieceLibrary& load_sentencepiece() {
  static const SentencePieceLibrary loaded = load();
  return loaded;
}

}  // namespace ballast
