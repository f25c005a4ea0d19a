#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"

namespace ballast {

enum class Subwords { bpe, unigram, character };

template <>
struct EnumNames<Subwords> {
  static constexpr std::array<std::pair<std::string_view, Subwords>, 3> value{{
      {"bpe", Subwords::bpe},
      {"unigram", Subwords::unigram},
      {"character", Subwords::character},
  }};
};

/// SentencePiece's rules of what counts as the same character; `_cf` also folds case.
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

struct TokenizerOptions {
  Subwords kind = Subwords::bpe;
  int64_t vocabulary_size = 8000;
  double character_coverage = 1.0;
  bool byte_fallback = false;
  Normalization normalization = Normalization::nmt_nfkc;
  bool remove_extra_spaces = true;
  int64_t training_sentences = 2'000'000;

  static constexpr auto fields() {
    using T = TokenizerOptions;
    return std::tuple{
        field("kind", &T::kind, "how words are cut into pieces"),
        field("vocabulary_size", &T::vocabulary_size,
              "number of pieces, with the four special ones and the bytes; the most for characters",
              Bounds{.low = 5, .high = 1e7}),
        field("character_coverage", &T::character_coverage,
              "share of the characters of the text that get a piece; the rest becomes unknown",
              Bounds{.low = 0.9, .high = 1}),
        field("byte_fallback", &T::byte_fallback,
              "spell unknown characters in bytes (256 more pieces)"),
        field("normalization", &T::normalization, "which characters count as the same"),
        field("remove_extra_spaces", &T::remove_extra_spaces,
              "strip spaces at the ends and join runs of them"),
        field("training_sentences", &T::training_sentences,
              "sentences to learn from, evenly spaced in the text when it has more", at_least_one),
    };
  }

  bool operator==(const TokenizerOptions&) const = default;
};

enum class PieceKind { normal, unknown, control, unused, byte };

/// One entry of a vocabulary, as other programs' files want it.
struct Piece {
  std::string text;  ///< U+2581 stands for a space
  float score = 0;
  PieceKind kind = PieceKind::normal;
};

/// Cuts text into pieces of a vocabulary and back (Kudo and Richardson 2018, "SentencePiece").
/// Copies share the model; all const functions may run in several threads at once.
/// Raises StoreError when the SentencePiece module does not lie where it should.
class Tokenizer {
 public:
  /// Learns a vocabulary with pad 0, unknown 1, begin 2, end 3; the result depends on nothing but
  /// sentences and options. Raises DataError when the text cannot give that many pieces (with the
  /// largest number it can) or has more characters than pieces.
  static Tokenizer train(std::span<const std::string> sentences, const TokenizerOptions& options);

  /// From the bytes of a SentencePiece model file. Raises DataError when they are none, or the
  /// model lacks an unknown, begin or end piece. SentencePiece 0.1.97 does not check what lies
  /// inside a model that parses: one with flipped bits can crash it, so whoever reads a model from
  /// a file compares a checksum first.
  static Tokenizer from_model(std::string serialized);

  /// Text that is not valid UTF-8 is taken with replacement characters; blank text gives no ids.
  std::vector<int64_t> encode(std::string_view text) const;

  /// Special pieces give no text, the unknown piece gives " ⁇ ". Raises DataError for an id that
  /// the vocabulary does not have.
  std::string decode(std::span<const int64_t> ids) const;

  int64_t size() const;
  int64_t pad_id() const;  ///< -1 for a foreign model without one
  int64_t unknown_id() const;
  int64_t begin_id() const;
  int64_t end_id() const;
  Piece piece(int64_t id) const;
  const std::string& serialized() const;

 private:
  class Model;
  explicit Tokenizer(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  std::shared_ptr<const Model> model_;
};

}  // namespace ballast
