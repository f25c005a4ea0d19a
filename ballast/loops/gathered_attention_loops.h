#pragma once

#include "ballast/loops/attention_loops.h"

namespace ballast {

/// A call of `gathered_attention` as its loops see it; all arrays contiguous. Key t of sequence b
/// is row rows[b, t] of `key` and `value`.
struct GatheredCall {
  AttentionShape shape;              ///< neither `causal` nor `drop` is read
  const float *query, *key, *value;  ///< [B, H K], then rows [G K]
  const float* bias;                 ///< [H, bias_width], T columns and room for a vector, or null
  int64_t bias_width;
  const int32_t* rows;  ///< [B, keys], `row_stride` elements from one sequence to the next
  int64_t row_stride;
  const int64_t* lengths;  ///< [B], or null where each is T
  int64_t keys;            ///< T
  float* out;              ///< [B, H K]
};

/// One of the equal parts that the heads of a sequence are cut into; `parts` divides G.
struct SequencePart {
  int64_t sequence, part, parts;
};

/// The heads of a part, their columns of a row of `out`; the work of one thread, in float32.
void attend_gathered(const GatheredCall& call, const SequencePart& part);

}  // namespace ballast
