#pragma once

#include <torch/types.h>

#include <cstdint>

#include "ballast/base/segments.h"
#include "ballast/kernels/dropout.h"

namespace ballast {

/// Query, key and value rows of packed sequences. H query heads share G key and value heads.
struct AttentionInputs {
  torch::Tensor query;       ///< [N_q, H K]
  torch::Tensor key, value;  ///< [N_k, G K]
  const Segments& queries;   ///< where each sequence's queries lie
  const Segments& keys;      ///< where its keys and values lie; as many sequences
};

struct AttentionOptions {
  int64_t heads = 1;            ///< H
  int64_t key_value_heads = 1;  ///< G, divides H
  double scale = 1;             ///< of the logits, usually K^-1/2
  bool causal = false;          ///< query i of T sees the first S - T + i + 1 of S keys
  double soft_cap = 0;          ///< c: logits become c tanh(logit / c); 0 = off
  DropMask dropout = {};        ///< of the probabilities
};

/// softmax(scale q k^T) v within each sequence; returns [N_q, H K].
///
/// A query that sees no key gives zeros and passes no gradient. Rows outside every sequence are 0.
/// Dropout reads, for query row r, head h and key position t, the word of (row r H + h, column t).
torch::Tensor attention(const AttentionInputs& inputs, const AttentionOptions& options);

/// The ATen version, for any device and derivative: pads to the longest sequence inside itself.
torch::Tensor attention_reference(const AttentionInputs& inputs, const AttentionOptions& options);

}  // namespace ballast
