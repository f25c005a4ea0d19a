#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "ballast/data/options.h"
#include "ballast/data/parallel_text.h"
#include "ballast/data/tokenizer.h"

namespace ballast {

/// Many sequences of ids in one array.
class TokenLists {
 public:
  TokenLists() = default;

  /// From all ids and the position of each sequence's end. Raises DataError when the ends do not
  /// rise or the last is not the number of ids.
  TokenLists(std::vector<int32_t> ids, std::vector<int64_t> ends);

  int64_t count() const { return static_cast<int64_t>(ends_.size()); }
  int64_t length(int64_t i) const { return ends_[i] - begin(i); }
  std::span<const int32_t> operator[](int64_t i) const {
    return std::span(ids_).subspan(static_cast<std::size_t>(begin(i)),
                                   static_cast<std::size_t>(length(i)));
  }
  void add(std::span<const int32_t> sequence);

  const std::vector<int32_t>& ids() const { return ids_; }
  const std::vector<int64_t>& ends() const { return ends_; }

  bool operator==(const TokenLists&) const = default;

 private:
  int64_t begin(int64_t i) const { return i == 0 ? 0 : ends_[i - 1]; }

  std::vector<int32_t> ids_;
  std::vector<int64_t> ends_;
};

class Masking;
class Contexts;

/// A text as ids, ready for batches: pairs of sequences, or the contexts of a language model. A
/// source sequence ends with the end piece; a target sequence has the begin piece before it too, so
/// that all but its last id is the input of a decoder and all but its first the output. A target
/// has at least two ids.
struct EncodedCorpus {
  TokenLists source;  ///< both are empty where there are contexts
  TokenLists target;
  int64_t dropped_empty = 0;                    ///< pairs without a piece on one side or both
  int64_t dropped_long = 0;                     ///< pairs with a side above the limit
  int64_t truncated = 0;                        ///< pairs that were cut to the limit
  std::shared_ptr<const Masking> masking = {};  ///< of its batches; null: each next id is predicted

  std::shared_ptr<const Contexts> contexts = {};  ///< of a language model; else null

  int64_t count() const;                   ///< of sequences
  int64_t target_tokens(int64_t i) const;  ///< of sequence i, as a decoder reads them
  bool is_parallel() const { return source.count() > 0; }

  bool operator==(const EncodedCorpus&) const = default;
};

/// Encodes pairs, in order, on two threads. What `text` had dropped counts as dropped here too.
/// Raises Stopped soon after `stop` was requested.
EncodedCorpus encode(const ParallelText& text, const Tokenizers& tokenizers,
                     const LengthLimit& limit, const std::stop_token& stop = {});

/// Joins lines, each with the end piece after it (a blank line is an end piece alone), and cuts the
/// stream that begins with the begin piece: sequence k holds ids k * context to (k + 1) * context,
/// both included, so that every id but the first is an output exactly once. The last may be
/// shorter. Lines that are all blank make no sequence. Raises Stopped as `encode` does.
EncodedCorpus encode_stream(std::span<const std::string> lines, const Tokenizer& tokenizer,
                            int64_t context, const std::stop_token& stop = {});

}  // namespace ballast
