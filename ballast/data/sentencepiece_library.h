#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "ballast/data/sentencepiece_module.h"

namespace ballast {

struct SentencePieceLibrary {
  const sentencepiece_module::Interface& interface;
  std::filesystem::path folder;  ///< where the module lies, and its programs beside it
};

/// Loads the SentencePiece module if it is not yet there; it stays for the life of the process.
/// Looks where `open_module` does. Raises StoreError when it is nowhere.
const SentencePieceLibrary& load_sentencepiece();

/// A model in SentencePiece's hands, released at the end.
using SentencePieceProcessor = std::unique_ptr<void, void (*)(void*)>;

/// From the bytes of a model file, see `Tokenizer::from_model`. Raises DataError when they are
/// none.
SentencePieceProcessor load_processor(std::string_view serialized);

/// Keeps what the module says in `text`.
sentencepiece_module::TextSink text_sink(std::string& text);

}  // namespace ballast
