#pragma once

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "ballast/base/segments.h"
#include "ballast/data/corpus.h"

namespace ballast {

/// What one forward pass of a model takes. No token of it is a pad.
struct Batch {
  Packed source;        ///< no sequences for a language model; each ends with the end piece
  Packed target_input;  ///< each begins with the begin piece (or the id before, in a stream)
  torch::Tensor target_output;   ///< int64, the id that follows each row that is predicted
  int64_t tokens = 0;            ///< targets that count in the loss
  torch::Tensor predicted = {};  ///< int64 rows that the loss reads; undefined: all N_t

  Batch to(torch::Device device) const;
};

/// The sequences of `corpus` with these numbers, in that order; masked where the corpus says so, as
/// in this pass over it, or for an evaluation. A context of a language model is several where it
/// has tokens that do not attend to each other.
Batch make_batch(const EncodedCorpus& corpus, std::span<const int64_t> sequences,
                 std::optional<int64_t> pass = {});

/// A range of sequences of ids, end to end.
template <class Sequences>
Packed pack(const Sequences& sequences) {
  std::vector<int64_t> lengths;
  for (const auto& each : sequences) lengths.push_back(std::ssize(each));
  Packed packed{{}, Segments::packed(lengths)};
  packed.tokens = torch::empty({packed.segments.tokens()}, torch::kInt64);
  auto* out = packed.tokens.template data_ptr<int64_t>();
  for (const auto& each : sequences) out = std::copy(each.begin(), each.end(), out);
  return packed;
}

}  // namespace ballast
