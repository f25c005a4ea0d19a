#pragma once

#include "ballast/kernels/attention.h"
#include "ballast/kernels/drop_row.h"

namespace ballast {

/// What all heads of a call share.
struct AttentionShape {
  int64_t heads, key_value_heads, d_head;
  float scale, soft_cap;
  bool causal;
  DropRow drop;
};

/// Rows of one sequence.
struct AttentionSpan {
  int64_t query, queries, key, keys;
};

struct AttentionForward {
  AttentionShape shape;
  const float *query, *key, *value;
  float* out;      ///< [N_q, H K]
  float* log_sum;  ///< [N_q, H]: logarithm of the sum of exponentials of each row of logits
};

struct AttentionBackward {
  AttentionForward forward;
  const float* gradient;       ///< of out
  float *query, *key, *value;  ///< the gradients; those of key and value start at 0
};

/// One sequence and one key and value head with all query heads it serves; what this writes, no
/// other such call writes. Logits and probabilities live only for a block of query rows.
void attend(const AttentionForward& call, const AttentionSpan& span, int64_t key_value_head);
void attend_backward(const AttentionBackward& call, const AttentionSpan& span,
                     int64_t key_value_head);

}  // namespace ballast
