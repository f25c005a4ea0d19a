#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

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
  /// Appends key and value rows, [N, G K] each. Memory doubles when it is full, so this costs O(N)
  /// on average.
  void append(const KeyValue& rows);

  int64_t size() const { return size_; }  ///< rows appended so far
  KeyValue packed() const;                ///< [size, G K], views; no tensors while it is empty

 private:
  torch::Tensor key_, value_;  // [capacity, G K]
  int64_t size_ = 0;
};

/// In which rows of the caches the tokens of each hypothesis lie. One table serves the caches of
/// all layers, and hypotheses with a common beginning share its rows, so that a step of a search
/// moves no key or value (as the block tables of Kwon et al. 2023, arXiv:2309.06180).
class Lineage {
 public:
  /// Further hypotheses, behind the others, that have no token yet.
  void add(int64_t count);

  /// The last hypotheses get so many tokens each, in the rows that the caches append next, one
  /// hypothesis after the other.
  void feed(std::span<const int64_t> tokens);

  /// Every hypothesis gets one token; where there is none yet, `count` of them begin with it.
  void extend(int64_t count);

  /// Keeps the given hypotheses (int64 [B'], repeats allowed), in that order.
  void select(const torch::Tensor& hypotheses);

  int64_t count() const { return static_cast<int64_t>(lengths_.size()); }  ///< B
  std::span<const int64_t> lengths() const { return lengths_; }            ///< tokens of each
  int64_t longest() const;                                                 ///< T
  torch::Tensor rows(torch::Device device) const;  ///< int32 [B, T], of each as many as its length

 private:
  void make_room(int64_t tokens);

  torch::Tensor rows_;  // int32 [B, room] on the CPU
  std::vector<int64_t> lengths_;
  int64_t next_ = 0;  // row of the caches
};

}  // namespace ballast
