#pragma once

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "ballast/base/segments.h"
#include "ballast/data/corpus.h"

namespace ballast {

/// What one forward pass of a model takes. No token of it is a pad.
struct Batch {
  Packed source;        ///< no sequences for a language model; each ends with the end piece
  Packed target_input;  ///< each begins with the begin piece (or the id before, in a stream)
  torch::Tensor target_output;  ///< int64 [N_t], the id that follows each of `target_input`
  int64_t tokens = 0;           ///< targets that count in the loss

  Batch to(torch::Device device) const;
};

/// The sequences of `corpus` with these numbers, in that order.
Batch make_batch(const EncodedCorpus& corpus, std::span<const int64_t> sequences);

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
