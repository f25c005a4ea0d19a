#pragma once

#include <torch/types.h>

#include <span>

#include "ballast/kernels/attention.h"

namespace ballast {

/// One query per sequence, and a table of the rows of keys and values that each of them sees: the
/// first `lengths[b]` of its row, which it stands behind.
struct GatheredInputs {
  torch::Tensor query;       ///< [B, H K]
  torch::Tensor key, value;  ///< [N_k, G K]
  torch::Tensor rows;        ///< int32 [B, T]; sequences may share rows
  /// [H, T] of the logits by distance, or undefined: the last column is that of a sequence's last
  /// key, the one before that of the key before it.
  torch::Tensor bias = {};
  std::span<const int64_t> lengths = {};  ///< [B], at most T; none: all are T
};

/// softmax(scale q k^T + bias) v over keys that lie anywhere; returns [B, H K].
///
/// For decoding from a cache whose rows never move (the block tables of Kwon et al. 2023,
/// arXiv:2309.06180, with blocks of one token). `causal` changes nothing, for the one query comes
/// last; dropout is for training and is not drawn.
torch::Tensor gathered_attention(const GatheredInputs& inputs, const AttentionOptions& options);

/// The ATen version, for any device, type and derivative.
torch::Tensor gathered_attention_reference(const GatheredInputs& inputs,
                                           const AttentionOptions& options);

}  // namespace ballast
