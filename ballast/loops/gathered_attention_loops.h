#pragma once

#include "ballast/loops/attention_loops.h"

namespace ballast {

/// A call of `gathered_attention` as its loops see it.
struct GatheredCall {
  AttentionShape shape;
  const float *query, *key, *value;
  const float* bias;  ///< [H, bias_width], with room for whole vectors of keys, or null
  int64_t bias_width;
  const int32_t* rows;  ///< [B, keys]
  int64_t keys;
  float* out;
};

/// All heads of one sequence.
void attend_gathered(const GatheredCall& call, int64_t sequence);

}  // namespace ballast
