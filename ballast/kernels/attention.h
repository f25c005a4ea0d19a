#pragma once

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "ballast/base/segments.h"
#include "ballast/kernels/dropout.h"

namespace ballast {

/// Columns [first, first + width) of rows that may hold more beside them. A tensor alone is all of
/// its columns. What is projected together is so read where it lies, and its gradient comes whole.
struct Columns {
  Columns() = default;
  Columns(torch::Tensor rows)  // NOLINT: rows alone are columns too
      : rows(std::move(rows)), width(this->rows.size(1)) {}
  Columns(torch::Tensor rows, int64_t first, int64_t width)
      : rows(std::move(rows)), first(first), width(width) {}

  torch::Tensor alone() const { return rows.slice(1, first, first + width); }

  torch::Tensor rows;
  int64_t first = 0, width = 0;
};

/// Query, key and value rows of packed sequences. H query heads share G key and value heads.
struct AttentionInputs {
  Columns query;            ///< [N_q, H K]
  Columns key, value;       ///< [N_k, G K]
  const Segments& queries;  ///< where each sequence's queries lie
  const Segments& keys;     ///< where its keys and values lie; as many sequences

  /// Of relative positions, or undefined: [H, 2 R + 1], column R + d for a key d places after its
  /// query (before it when negative), the first and last column also for all that lie further.
  /// Query i of T stands where key S - T + i of S does.
  torch::Tensor relative_bias = {};
};

struct AttentionOptions {
  int64_t heads = 1;            ///< H
  int64_t key_value_heads = 1;  ///< G, divides H
  double scale = 1;             ///< of the logits, usually K^-1/2
  bool causal = false;          ///< query i of T sees the first S - T + i + 1 of S keys
  double soft_cap = 0;          ///< c: scale q k becomes c tanh(scale q k / c); 0 = off
  DropMask dropout = {};        ///< of the probabilities
};

/// softmax(scale q k^T + bias) v within each sequence; returns [N_q, H K]. A bias per distance
/// holds T5's buckets (Raffel et al. 2020, arXiv:1910.10683) and ALiBi's slopes (Press et al. 2022,
/// arXiv:2108.12409).
///
/// A query that sees no key gives zeros and passes no gradient. Rows outside every sequence are 0.
/// Dropout reads, for query row r, head h and key position t, the word of (row r H + h, column t).
torch::Tensor attention(const AttentionInputs& inputs, const AttentionOptions& options);

/// The ATen version, for any device and derivative: pads to the longest sequence inside itself.
torch::Tensor attention_reference(const AttentionInputs& inputs, const AttentionOptions& options);

}  // namespace ballast
