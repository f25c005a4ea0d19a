#pragma once

#include <filesystem>

#include "ballast/data/sentencepiece_module.h"

namespace ballast {

struct SentencePieceLibrary {
  const sentencepiece_module::Interface& interface;
  std::filesystem::path folder;  ///< where the module lies, and its programs beside it
};

/// Loads the SentencePiece module if it is not yet there; it stays for the life of the process.
///
/// Looks beside the running program, in `../lib/ballast` and the library folder of the installation
/// from there, in the build folder, in the configured library folder, and last where the dynamic
/// linker looks. Raises StoreError with that list when none has it.
const SentencePieceLibrary& load_sentencepiece();

}  // namespace ballast
