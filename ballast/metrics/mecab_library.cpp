#include "ballast/metrics/mecab_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr const char* file_name = "libmecab.so.2";

template <class Function>
void find(Function& function, void* library, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function != nullptr) return;
  throw StoreError(
      fmt::format("{} has no function {}; install Debian's package libmecab2", file_name, name));
}

MecabLibrary opened() {
  void* library = ::dlopen(file_name, RTLD_NOW | RTLD_NODELETE | RTLD_LOCAL);
  if (library == nullptr) {
    throw StoreError(
        fmt::format("Japanese and Korean words are found by MeCab, and its library cannot be "
                    "loaded ({}); install Debian's package libmecab2",
                    ::dlerror()));
  }
  MecabLibrary mecab{};
  find(mecab.strerror, library, "mecab_strerror");
  find(mecab.version, library, "mecab_version");
  find(mecab.model_new, library, "mecab_model_new");
  find(mecab.model_destroy, library, "mecab_model_destroy");
  find(mecab.dictionary_info, library, "mecab_model_dictionary_info");
  find(mecab.lookup, library, "mecab_model_lookup");
  find(mecab.transition_cost, library, "mecab_model_transition_cost");
  find(mecab.lattice_new, library, "mecab_lattice_new");
  find(mecab.lattice_destroy, library, "mecab_lattice_destroy");
  find(mecab.set_sentence, library, "mecab_lattice_set_sentence2");
  return mecab;
}

}  // namespace

const MecabLibrary& load_mecab() {
  static const MecabLibrary mecab = opened();
  return mecab;
}

}  // namespace ballast
