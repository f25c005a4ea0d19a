#pragma once

#include <cstdint>

#include "ballast/loops/drop_row.h"

namespace ballast {

/// What all heads of a call share: H, G, which divides H, and K; the rest as in `AttentionOptions`.
struct AttentionShape {
  int64_t heads, key_value_heads, d_head;
  float scale, soft_cap;  ///< soft_cap 0: no cap
  bool causal;
  DropRow drop;  ///< of the probabilities
};

/// Rows of one sequence, and which of the batch it is: T = `queries` rows of the packed queries
/// from row `query` on, S = `keys` rows of the packed keys and values from row `key` on.
struct AttentionSpan {
  int64_t query, queries, key, keys, sequence;
};

/// A bias per head and distance, wide enough for every sequence and for what a vector reads past
/// it: column zero + d for a key d places after its query, d from -m to m - 1 + `spare` where m is
/// the longest sequence of queries or keys.
struct DistanceBias {
  static constexpr int64_t spare = 64;  ///< elements: a vector of 2048 bits
  float* table = nullptr;               ///< [H, width]; null when there is none
  int64_t width = 0, zero = 0;          ///< column of distance 0

  /// That of the keys of a query which stands at `position` among them, from the first key on.
  float* row(int64_t head, int64_t position) const {
    return table == nullptr ? nullptr : table + head * width + zero - position;
  }
  /// Of a table [B, H, width], that of one sequence.
  DistanceBias of_sequence(int64_t heads, int64_t sequence) const {
    return {table == nullptr ? nullptr : table + sequence * heads * width, width, zero};
  }
};

/// Rows of heads, `row` elements from one to the next, of which each head has K columns: H K for
/// queries and the result, G K for keys and values. They may be columns of wider rows.
template <class T>
struct HeadRows {
  T* data;
  int64_t row;

  T* at(int64_t place, int64_t column) const { return data + place * row + column; }
};

/// For each query of each head, with p = softmax(l) over the keys that it sees:
///
///     l = c tanh(scale q k / c) + bias  (c = soft_cap; 0: scale q k + bias)      out = drop(p) v
///
/// All arrays are float32, of any alignment. `out` may overlap nothing that is read.
struct AttentionForward {
  AttentionShape shape;
  HeadRows<const float> query, key, value;
  HeadRows<float> out;
  /// [N_q, H], written by the forward pass and read by the backward one: logarithm of the sum of
  /// exponentials of each row of logits, -infinity for a query that sees no key.
  float* log_sum;
  DistanceBias bias = {};
};

/// The gradients of the same call. Probabilities are made again from q, k and `log_sum`, the mask
/// of dropout from its key (as in FlashAttention, Dao et al. 2022, arXiv:2205.14135).
struct AttentionBackward {
  AttentionForward forward;
  HeadRows<const float> gradient;     ///< of out
  HeadRows<float> query, key, value;  ///< the gradients; every row of a sequence is written
  DistanceBias bias = {};             ///< [B, H, width], the gradient of each sequence; starts at 0
};

/// One sequence and one key and value head with all query heads it serves: rows of out and of
/// `log_sum`. What this writes, no other such call writes where no sequences share rows, so threads
/// may share the calls out; a call is one thread's work, and its order of sums depends on nothing
/// but the shape and the instruction set. Logits and probabilities live only for a block of query
/// rows. A query that sees no key gives zeros.
void attend(const AttentionForward& call, const AttentionSpan& span, int64_t key_value_head);
/// The same of the gradients. Those of the keys and values are set to 0 first, so sequences that
/// share rows of them may not be served.
void attend_backward(const AttentionBackward& call, const AttentionSpan& span,
                     int64_t key_value_head);

}  // namespace ballast
