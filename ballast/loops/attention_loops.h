#pragma once

#include <cstdint>

#include "ballast/loops/drop_row.h"

namespace ballast {

/// What all heads of a call share.
struct AttentionShape {
  int64_t heads, key_value_heads, d_head;
  float scale, soft_cap;
  bool causal;
  DropRow drop;
};

/// Rows of one sequence, and which of the batch it is.
struct AttentionSpan {
  int64_t query, queries, key, keys, sequence;
};

/// A bias per head and distance, wide enough for every sequence and for what a vector reads past
/// it.
struct DistanceBias {
  static constexpr int64_t spare = 64;
  float* table = nullptr;       ///< [H, width]; null when there is none
  int64_t width = 0, zero = 0;  ///< column of distance 0

  /// That of the keys of a query which stands at `position`, from the first key on.
  float* row(int64_t head, int64_t position) const {
    return table == nullptr ? nullptr : table + head * width + zero - position;
  }
  DistanceBias of_sequence(int64_t heads, int64_t sequence) const {
    return {table == nullptr ? nullptr : table + sequence * heads * width, width, zero};
  }
};

/// Rows of heads, with so many elements from one row to the next.
template <class T>
struct HeadRows {
  T* data;
  int64_t row;

  T* at(int64_t place, int64_t column) const { return data + place * row + column; }
};

struct AttentionForward {
  AttentionShape shape;
  HeadRows<const float> query, key, value;
  HeadRows<float> out;
  float* log_sum;  ///< [N_q, H]: logarithm of the sum of exponentials of each row of logits
  DistanceBias bias = {};
};

struct AttentionBackward {
  AttentionForward forward;
  HeadRows<const float> gradient;     ///< of out
  HeadRows<float> query, key, value;  ///< the gradients; every row of a sequence is written
  DistanceBias bias = {};             ///< [B, H, width], the gradient of each sequence; starts at 0
};

/// One sequence and one key and value head with all query heads it serves; what this writes, no
/// other such call writes. Logits and probabilities live only for a block of query rows.
void attend(const AttentionForward& call, const AttentionSpan& span, int64_t key_value_head);
void attend_backward(const AttentionBackward& call, const AttentionSpan& span,
                     int64_t key_value_head);

}  // namespace ballast
