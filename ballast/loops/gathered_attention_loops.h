#pragma once

#include "ballast/loops/attention_loops.h"

namespace ballast {

/// A call of `gathered_attention` as its loops see it; all arrays contiguous. Key t of sequence b
/// is row rows[b, t] of `key` and `value`.
struct GatheredCall {
  AttentionShape shape;              ///< neither `causal` nor `drop` is read
  const float *query, *key, *value;  ///< [B, H K], then rows [G K]
  const float* bias;  ///< [H, bias_width], with room for whole vectors of keys, or null
  int64_t bias_width;
  const int32_t* rows;  ///< [B, keys]
  int64_t keys;         ///< T, the same for every sequence
  float* out;           ///< [B, H K]
};

/// All heads of one sequence, its row of `out`; the work of one thread, in float32.
void attend_gathered(const GatheredCall& call, int64_t sequence);

}  // namespace ballast
