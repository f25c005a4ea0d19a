#include "ballast/data/sentencepiece_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>
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
  std::optional<SentencePieceLibrary> loaded;
  open_module(spm::file_name, [&](const std::string& file) -> std::string {
    void* module = open(file);
    if (module == nullptr) return ::dlerror();
    loaded.emplace(library_of(module, file));
    return {};
  });
  return *loaded;
}

}  // namespace

const SentencePieceLibrary& load_sentencepiece() {
  static const SentencePieceLibrary loaded = load();
  return loaded;
}

spm::TextSink text_sink(std::string& text) {
  return {&text, [](void* receiver, spm::Text part) {
            static_cast<std::string*>(receiver)->assign(part.bytes, part.size);
          }};
}

SentencePieceProcessor load_processor(std::string_view serialized) {
  const spm::Interface& interface = load_sentencepiece().interface;
  std::string error;
  SentencePieceProcessor processor{
      interface.load({serialized.data(), serialized.size()}, text_sink(error)), interface.release};
  if (processor) return processor;
  throw DataError(
      fmt::format("these {} bytes are no SentencePiece model ({}); expected the contents of a "
                  ".model file",
                  serialized.size(), error));
}

}  // namespace ballast
