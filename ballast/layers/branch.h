#pragma once

#include <torch/types.h>

#include <optional>

#include "ballast/base/segments.h"
#include "ballast/layers/key_value_cache.h"
#include "ballast/layers/linear.h"
#include "ballast/layers/relative_positions.h"

namespace ballast {

/// What the encoder hands to the decoder: rows [N_k, d] and where each sentence lies.
struct Memory {
  LinearInput rows;
  Segments segments;
};

/// What a branch reads besides its rows.
struct Surroundings {
  const Segments& segments;        ///< the sequences of the rows
  const Memory* memory = nullptr;  ///< of a decoder with a source: as many sentences
  RelativePlaces places = {};      ///< for self-attention
};

/// What the hypotheses of a decoding step read. A step feeds one token to each of them, or whole
/// sequences to those that are new.
struct Reading {
  std::optional<Segments> whole;  ///< the sequences that a step feeds whole; else a row is a token
  Lineage lineage;                ///< rows of the caches of self-attention
  Segments readers;               ///< rows of the step that read each sentence
  Segments sentences;             ///< where these lie in the memory; empty without a source
  RelativePlaces places = {};     ///< for self-attention, of this step
};

/// What one branch keeps while decoding.
struct BranchCache {
  KeyValueCache rows;  ///< of a self-attention: keys and values of the tokens so far
  KeyValue memory;     ///< of a cross-attention: the memory, projected once
};

/// The f of a residual connection: rows [N, d] to rows [N, d].
class Branch {
 public:
  virtual ~Branch() = default;

  /// Whole sequences, the rows of `around.segments`.
  virtual torch::Tensor forward(const torch::Tensor& h, const Surroundings& around) const = 0;

  /// The rows that `forward` would give for what is fed, h [N, d] to [N, d], behind all tokens
  /// before it, which the cache remembers.
  virtual torch::Tensor step(const torch::Tensor& h, BranchCache& cache,
                             const Reading& reading) const = 0;

  /// Puts into a cache what the steps read of the memory; nothing unless the branch reads one.
  virtual void remember(const Memory&, BranchCache&) const {}
};

}  // namespace ballast
