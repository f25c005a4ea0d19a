#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ballast/data/batch_plan.h"
#include "ballast/data/token_stream.h"
#include "ballast/data/tokenizer.h"

namespace ballast {

/// How a stream is cut into contexts, and in which order these come.
struct Packing {
  int64_t context = 512;         ///< most tokens of one
  std::optional<int64_t> begin;  ///< the piece before the first id of a stream, or of a document
  bool crosses_documents = true;
  bool positions_go_on = false;  ///< through a context whose documents are apart
  std::vector<double> mixture;   ///< a weight for each file, or empty
  /// Whether passes are drawn without a list of all contexts, and not by `permutation`.
  bool scattered = true;
};

/// The piece that begins a text: the begin piece of the vocabulary, else its end piece (as in
/// GPT-2), else none.
std::optional<int64_t> begin_piece(const Tokenizer& tokenizer);

/// Tokens of a context that attend to each other: a decoder reads `before` and the ids of the
/// stream at begin .. end - 2, and its outputs are those at begin .. end - 1.
struct ContextPiece {
  int64_t before = 0;
  int64_t begin = 0, end = 0;
  int64_t place = 0;  ///< of `before`, for positions

  int64_t size() const { return end - begin; }
  bool operator==(const ContextPiece&) const = default;
};

/// A stream of documents as sequences of `context` tokens. Every id is an output exactly once; but
/// where no piece begins a text, the first of the stream (of each document, where contexts do not
/// cross these) is none.
///
/// The outputs are cut at every multiple of `context`, so the last context may be shorter. With a
/// mixture each file is cut for itself, and its first context begins like the stream. Where
/// contexts do not cross documents, a context falls into one piece for each of them, the first id
/// of a document has the begin piece before it, and what is cut by the end of a context goes on in
/// the next one without what was before, but for one id.
class Contexts {
 public:
  /// Raises DataError where a file has a weight in the mixture and no text.
  Contexts(TokenStream stream, Packing packing);

  const TokenStream& stream() const { return stream_; }
  const Packing& packing() const { return packing_; }

  int64_t count() const { return count_; }

  /// Tokens of context k, at most: ids that are no output are counted.
  int64_t tokens(int64_t k) const;

  /// Never empty, nor is one of them.
  std::vector<ContextPiece> pieces(int64_t k) const;

  /// The contexts of batch `index` of a pass. In one pass there are as many as the stream has;
  /// without a mixture, each once. With one, file f gives count * weight_f / (sum of all weights)
  /// of them, rounded: it goes through its own contexts in an order that is drawn anew whenever all
  /// were taken, and goes on where the pass before stopped. Depends on seed, epoch and index alone.
  std::vector<int64_t> drawn(const BatchLimits& limits, uint64_t seed, const Position& at) const;

  /// Batches of a pass, the last of which may be smaller.
  int64_t batches(const BatchLimits& limits) const;

 private:
  /// What is cut for itself.
  struct Part {
    int64_t begin = 0, end = 0;  ///< ids that are outputs
    int64_t first = 0;           ///< context
    int64_t contexts = 0;
    int64_t first_drawn = 0;  ///< of the places of a pass that are its own
    int64_t drawn = 0;        ///< their number
  };

  void add_part(int64_t begin, int64_t end);
  void share_out();
  const Part& part_of(int64_t k) const;
  int64_t per_batch(const BatchLimits& limits) const;
  int64_t drawn_at(int64_t place, uint64_t seed, int64_t epoch) const;
  std::optional<ContextPiece> piece(int64_t begin, int64_t end, int64_t document) const;

  TokenStream stream_;
  Packing packing_;
  std::vector<Part> parts_;
  int64_t count_ = 0;
};

/// The pieces of all contexts as sequences in memory.
EncodedCorpus as_lists(const Contexts& contexts);

}  // namespace ballast
