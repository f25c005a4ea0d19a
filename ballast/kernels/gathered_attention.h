#pragma once

#include <torch/types.h>

#include "ballast/kernels/attention.h"

namespace ballast {

/// One query per sequence, and a table of the rows of keys and values that each of them sees.
struct GatheredInputs {
  torch::Tensor query;       ///< [B, H K]
  torch::Tensor key, value;  ///< [N_k, G K]
  torch::Tensor rows;        ///< int32 [B, T]; sequences may share rows
  torch::Tensor bias = {};   ///< [H, T], of the logit of each key, or undefined
};

/// softmax(scale q k^T + bias) v over T keys that lie anywhere; returns [B, H K].
///
/// For decoding from a cache whose rows never move (the block tables of Kwon et al. 2023,
/// arXiv:2309.06180, with blocks of one token). `causal` changes nothing, for the one query comes
/// last; dropout is for training and is not drawn.
torch::Tensor gathered_attention(const GatheredInputs& inputs, const AttentionOptions& options);

/// The ATen version, for any device, type and derivative.
torch::Tensor gathered_attention_reference(const GatheredInputs& inputs,
                                           const AttentionOptions& options);

}  // namespace ballast
