#pragma once

#include <torch/types.h>

#include "ballast/base/segments.h"

namespace ballast {

/// Keys and values of one attention.
struct KeyValue {
  torch::Tensor key, value;  ///< [N_k, G K]
};

/// Keys and values of B growing sequences of equal length, in rows with room to grow.
class KeyValueCache {
 public:
  /// Appends one key and value row per sequence, [B, G K] each.
  void append(const KeyValue& rows);

  /// Keeps the given sequences (int64 [B'], repeats allowed), in that order.
  void select(const torch::Tensor& sequences);

  int64_t length() const { return length_; }
  Segments segments() const;  ///< where each sequence lies in `packed()`
  KeyValue packed() const;    ///< [B * capacity, G K]

 private:
  void reserve(const KeyValue& rows);

  torch::Tensor key_, value_;  // [B, capacity, G K]
  int64_t length_ = 0;
};

}  // namespace ballast
