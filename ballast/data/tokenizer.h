#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/data/tokenizer_options.h"

namespace ballast {

enum class PieceKind { normal, unknown, control, unused, byte };

/// One entry of a vocabulary, as other programs' files want it.
struct Piece {
  std::string text;  ///< U+2581 stands for a space; of byte-level ones `in_byte_alphabet`
  float score = 0;
  PieceKind kind = PieceKind::normal;
};

class TokenizerModel;

/// Cuts text into pieces of a vocabulary and back. Copies share the model; all const functions may
/// run in several threads at once.
/// Raises StoreError when the SentencePiece module does not lie where it should.
class Tokenizer {
 public:
  /// Learns a vocabulary with pad 0, unknown 1, begin 2, end 3; the result depends on nothing but
  /// sentences and options. Works in a process of its own, for SentencePiece ends the one it runs
  /// in where a check of its own fails; lines go to it in parts, see `learning_parts`. Raises
  /// DataError when the text cannot give that many pieces (with the largest number it can) or has
  /// more characters than pieces, and Stopped soon after `stop` was requested.
  static Tokenizer train(std::span<const std::string> sentences, const LearnedChoice& options,
                         const std::stop_token& stop = {});

  /// From the bytes of a SentencePiece model file. Raises DataError when they are none, or the
  /// model lacks an unknown or end piece, or both begin and pad. SentencePiece 0.1.97 does not
  /// check what lies inside a model that parses: one with flipped bits can crash it, so whoever
  /// reads a model from a file compares a checksum first, or calls `read_sentencepiece`.
  static Tokenizer from_model(std::string serialized);

  /// From a list of words, one a line; where every line has a whole number behind its word, that is
  /// a count and left out. Special words are found by their usual names (<pad>, <unk>, <s>, </s>,
  /// also <blank>, <bos>, <eos>); those that are not listed come before all others, in fairseq's
  /// order <s>, <pad>, </s>, <unk>. Raises DataError, which begins with `name` and the line, for an
  /// empty list, a line with no word or several, and a word that is there twice.
  static Tokenizer from_words(std::span<const std::string> lines, const std::string& name);

  /// A byte-level vocabulary from the text of a `tokenizer.json`, see `parse_tokenizer_json`; where
  /// it has no begin piece, the end piece begins (as in GPT-2). Raises DataError, which begins with
  /// `name`, for what is none, and for pieces, merges and numbers that contradict each other.
  static Tokenizer from_json(std::string text, const std::string& name);

  /// No text gives a special id other than unknown. Pieces of characters take text that is not
  /// valid UTF-8 with replacement characters, byte-level ones as it is. Blank text gives no ids,
  /// where spaces at the ends are not kept.
  std::vector<int64_t> encode(std::string_view text) const;

  /// Special pieces give no text, the unknown piece gives " ⁇ " (a word, where pieces are words).
  /// Pieces of bytes may give what is no UTF-8, see `valid_utf8`. Raises DataError for an id that
  /// the vocabulary does not have.
  std::string decode(std::span<const int64_t> ids) const;

  int64_t size() const;
  int64_t pad_id() const;      ///< -1 for a foreign model without one
  int64_t unknown_id() const;  ///< -1 for a byte-level one without
  int64_t begin_id() const;    ///< the pad piece of a foreign model without one (as T5 begins)
  int64_t end_id() const;
  Piece piece(int64_t id) const;

  /// What `from_model`, the lines of `from_words`, or `from_json` make the same tokenizer of.
  const std::string& serialized() const;

  /// True for copies of one another.
  bool is(const Tokenizer& other) const { return model_ == other.model_; }

 private:
  explicit Tokenizer(std::shared_ptr<const TokenizerModel> model) : model_(std::move(model)) {}

  std::shared_ptr<const TokenizerModel> model_;
};

/// The vocabularies of source and target.
struct Tokenizers {
  Tokenizer source, target;

  Tokenizers(Tokenizer source_side, Tokenizer target_side)
      : source(std::move(source_side)), target(std::move(target_side)) {}

  // NOLINTNEXTLINE(google-explicit-constructor): one vocabulary is the common case
  Tokenizers(const Tokenizer& joint) : source(joint), target(joint) {}

  /// Whether an id means the same on both sides.
  bool joint() const { return source.is(target); }
};

}  // namespace ballast
