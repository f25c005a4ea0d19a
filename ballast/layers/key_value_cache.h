#pragma once

#include <torch/types.h>

#include "ballast/kernels/attention.h"

namespace ballast {

/// Keys and values of one attention.
struct KeyValue {
  Columns key, value;  ///< [N_k, G K]
};

/// Keys and values of tokens in the order in which they came. What is in it never moves to another
/// row; which rows a hypothesis reads is told by its `Lineage`.
class KeyValueCache {
 public:
  /// Appends key and value rows, [B, G K] each. Memory doubles when it is full, so this costs O(B)
  /// on average.
  void append(const KeyValue& rows);

  int64_t size() const { return size_; }  ///< rows appended so far
  KeyValue packed() const;                ///< [size, G K], views; no tensors while it is empty

 private:
  torch::Tensor key_, value_;  // [capacity, G K]
  int64_t size_ = 0;
};

/// In which rows of the caches the tokens of each hypothesis lie: [B, T]. One table serves the
/// caches of all layers, and hypotheses with a common beginning share its rows, so that a step of a
/// search moves no key or value (as the block tables of Kwon et al. 2023, arXiv:2309.06180).
class Lineage {
 public:
  /// Every one of `count` hypotheses gets a token, in the rows that the caches append next.
  void extend(int64_t count, torch::Device device);

  /// Keeps the given hypotheses (int64 [B'], repeats allowed), in that order.
  void select(const torch::Tensor& hypotheses);

  const torch::Tensor& rows() const { return rows_; }  ///< int32 [B, T]

 private:
  torch::Tensor rows_;
  int64_t next_ = 0;  // row of the caches
};

}  // namespace ballast
