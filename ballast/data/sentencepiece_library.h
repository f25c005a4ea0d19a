#pragma once

#include "ballast/data/sentencepiece_module.h"

namespace ballast {

/// Loads the SentencePiece module if it is not yet there; it stays for the life of the process.
///
/// Looks beside the running program, in `../lib/ballast` and the library folder of the installation
/// from there, in the build folder, in the configured library folder, and last where the dynamic
/// linker looks. Raises StoreError with that list when none has it.
const sentencepiece_module::Interface& load_sentencepiece();

}  // namespace ballast
