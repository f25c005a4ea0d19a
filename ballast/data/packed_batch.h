#pragma once

#include <torch/types.h>

#include <span>

#include "ballast/base/packed.h"
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

/// A batch of sources alone, for decoding; `sources` are ids with the end piece.
Packed pack(std::span<const std::vector<int64_t>> sources);

}  // namespace ballast
