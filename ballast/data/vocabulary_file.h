#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "ballast/data/tokenizer.h"

namespace ballast {

/// The bytes of a SentencePiece model file that someone gives. The model is tried in a process of
/// its own first (see `check_model`), for SentencePiece does not look at what it loads. Raises
/// DataError, which begins with the file's name, for what is no file or no sound model.
std::string read_model(const std::filesystem::path& file, const std::stop_token& stop = {});

/// The tokenizer of such a file. Raises DataError as `read_model` and `Tokenizer::from_model` do.
Tokenizer read_sentencepiece(const std::filesystem::path& file, const std::stop_token& stop = {});

/// The tokenizer of a file of words, see `Tokenizer::from_words`; packed as `LineReader` takes it.
Tokenizer read_words(const std::filesystem::path& file);

/// The tokenizer of a `tokenizer.json`, or of a `vocab.json` and its merges, which are `merges.txt`
/// beside it where `merges` is empty; see `Tokenizer::from_json`.
Tokenizer read_byte_pairs(const std::filesystem::path& file,
                          const std::filesystem::path& merges = {});

/// The 256 bytes, which are ids 0 to 255, and an end piece.
Tokenizer byte_tokenizer();

}  // namespace ballast
