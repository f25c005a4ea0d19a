#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ballast {

/// A vocabulary of byte sequences as files give it.
struct BytePairs {
  struct Added {
    int64_t id = 0;
    std::string text;
    bool special = false;  ///< no text gives it, and it gives none
  };

  std::unordered_map<std::string, int64_t> ids;  ///< of bytes, not in the printable alphabet
  std::vector<std::pair<std::string, std::string>> merges;  ///< of bytes, the first first
  std::vector<Added> added;                                 ///< whole texts with an id of their own
  std::vector<std::string> patterns;  ///< each cuts what the one before it left, see TextSplitter
  std::string unknown;                ///< the piece of bytes without an id; empty for none
  std::string normal_form;            ///< NFC, NFD, NFKC, NFKD; empty for the text as it is
  bool adds_space = false;            ///< in front of a text that does not begin with one
  bool whole_words = false;           ///< a word with an id is not put together (`ignore_merges`)
};

/// From the text of a `tokenizer.json` of byte-level pairs (the format of Hugging Face's
/// tokenizers). Raises DataError, which begins with `name`, for what is none, and for rules of
/// splitting and normalising that are not known here.
BytePairs parse_tokenizer_json(std::string_view text, const std::string& name);

/// Whether a JSON text is an object of pieces and numbers alone, as `vocab.json` is.
bool is_list_of_pieces(std::string_view text);

/// The `tokenizer.json` of GPT-2's two files, texts of `vocab.json` and `merges.txt`; GPT-2's
/// words. Raises DataError, which begins with the name of the one that is wrong.
std::string tokenizer_json_of(std::string_view vocabulary, const std::string& vocabulary_name,
                              std::string_view merges, const std::string& merges_name);

/// The `tokenizer.json` of the 256 bytes and an end piece, which ids 0 to 255 and 256 are.
std::string tokenizer_json_of_bytes();

}  // namespace ballast
