#pragma once

#include <torch/types.h>

#include "ballast/base/segments.h"

namespace ballast {

/// What queries and keys of an attention come to, before a bias of positions.
struct AttentionSight {
  int64_t heads = 1, key_value_heads = 1;
  double scale = 1;  ///< of q k^T
  bool causal = false;
};

struct AttentionStatistics {
  double deviation = 0;  ///< of a row's logits over the keys it sees; mean over rows and heads
  double largest = 0;    ///< magnitude of a logit
  double entropy = 1;    ///< of a row's softmax over the log of the keys it sees; mean
};

/// Of q [N_q, H K] and k [N_k, G K] (Zhai et al. 2023, arXiv:2303.06296, for the entropy). Rows
/// that see fewer than four keys are left out; at most `sequences` of the batch are looked at.
/// Without a row the default.
AttentionStatistics attention_statistics(const torch::Tensor& q, const torch::Tensor& k,
                                         const Segments& queries, const Segments& keys,
                                         const AttentionSight& sight, int64_t sequences = 8);

}  // namespace ballast
