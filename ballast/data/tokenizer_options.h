#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"

namespace ballast {

/// SentencePiece's rules of what counts as the same character; `_cf` also folds case. Those of
/// `nmt` make a space of ZWNJ, of the zero-width space and of direction marks; the others keep
/// them.
enum class Normalization { nmt_nfkc, nmt_nfkc_cf, nfkc, nfkc_cf, identity };

template <>
struct EnumNames<Normalization> {
  static constexpr std::array<std::pair<std::string_view, Normalization>, 5> value{{
      {"nmt_nfkc", Normalization::nmt_nfkc},
      {"nmt_nfkc_cf", Normalization::nmt_nfkc_cf},
      {"nfkc", Normalization::nfkc},
      {"nfkc_cf", Normalization::nfkc_cf},
      {"identity", Normalization::identity},
  }};
};

enum class Subwords { bpe, unigram, character };

/// What the catalogue says of each, by its number.
inline constexpr std::array<KindInfo, 3> subword_infos{{
    {"bpe", "joins the most frequent neighbours, again and again",
     "Sennrich, Haddow, Birch 2016, https://aclanthology.org/P16-1162"},
    {"unigram", "the pieces of which the text is most probable",
     "Kudo 2018, https://aclanthology.org/P18-1007"},
    {"character", "every character is a piece", ""},
}};

/// A vocabulary that is learned from the training text, by SentencePiece (Kudo and Richardson
/// 2018).
template <Subwords subwords>
struct LearnedPieces {
  int64_t vocabulary_size = 8000;
  double character_coverage = 1.0;
  bool byte_fallback = false;
  Normalization normalization = Normalization::nmt_nfkc;
  bool remove_extra_spaces = true;
  int64_t training_sentences = 2'000'000;

  static constexpr KindInfo info = subword_infos[static_cast<std::size_t>(subwords)];
  static constexpr std::string_view kept_as = ".model";  ///< by a run, behind the name

  static constexpr auto fields() {
    using L = LearnedPieces;
    return std::tuple{
        field("vocabulary_size", &L::vocabulary_size,
              "number of pieces, with the four special ones and the bytes; the most for characters",
              Bounds{.low = 5, .high = 1e7}),
        field("character_coverage", &L::character_coverage,
              "share of the characters of the text that get a piece; the rest becomes unknown",
              Bounds{.low = 0.98, .high = 1}),
        field("byte_fallback", &L::byte_fallback,
              "spell unknown characters in bytes (256 more pieces)"),
        field("normalization", &L::normalization,
              "which characters count as the same; nmt_* make a space of ZWNJ, the others keep it"),
        field("remove_extra_spaces", &L::remove_extra_spaces,
              "strip spaces at the ends and join runs of them"),
        field("training_sentences", &L::training_sentences,
              "sentences to learn from, evenly spaced in the text when it has more", at_least_one),
    };
  }

  bool operator==(const LearnedPieces&) const = default;
};

using Bpe = LearnedPieces<Subwords::bpe>;
using Unigram = LearnedPieces<Subwords::unigram>;
using Characters = LearnedPieces<Subwords::character>;

/// A vocabulary that lies in a file and is taken as it is.
struct SentencePieceFile {
  std::string file;

  static constexpr KindInfo info{"sentencepiece", "the pieces of a SentencePiece model",
                                 "https://github.com/google/sentencepiece"};
  static constexpr std::string_view kept_as = ".model";

  static constexpr auto fields() {
    return std::tuple{field("file", &SentencePieceFile::file,
                            "a .model file with an unknown, an end, and a begin or pad piece")};
  }

  bool operator==(const SentencePieceFile&) const = default;
};

struct WordFile {
  std::string file;

  static constexpr KindInfo info{
      "words", "text is split at spaces; words that are not listed are unknown", ""};
  static constexpr std::string_view kept_as = ".txt";

  static constexpr auto fields() {
    return std::tuple{field("file", &WordFile::file,
                            "one word a line, also with a count behind it (fairseq's dict.txt)")};
  }

  bool operator==(const WordFile&) const = default;
};

/// GPT-2's files, or a tokenizer.json of byte-level pairs.
struct BytePairFile {
  std::string file;
  std::string merges;

  static constexpr KindInfo info{"byte_level_bpe",
                                 "the byte-level pieces of GPT-2's files or of a tokenizer.json",
                                 "Radford et al. 2019, section 2.2"};
  static constexpr std::string_view kept_as = ".json";

  static constexpr auto fields() {
    return std::tuple{
        field("file", &BytePairFile::file, "a tokenizer.json, or a vocab.json with its merges.txt"),
        field("merges", &BytePairFile::merges,
              "the merges of a vocab.json; empty is merges.txt beside it"),
    };
  }

  bool operator==(const BytePairFile&) const = default;
};

/// The 256 bytes and an end piece, which nothing is learned for.
struct Bytes {
  static constexpr KindInfo info{"bytes", "every byte is a piece", "Xue et al. 2022 (ByT5)"};
  static constexpr std::string_view kept_as = ".json";

  static constexpr auto fields() { return std::tuple{}; }

  bool operator==(const Bytes&) const = default;
};

using LearnedChoice = std::variant<Bpe, Unigram, Characters>;
using TokenizerChoice =
    std::variant<Bpe, Unigram, Characters, SentencePieceFile, WordFile, BytePairFile, Bytes>;

}  // namespace ballast
