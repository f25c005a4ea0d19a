#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ballast/decode/options.h"

namespace ballast {

/// Where a random draw stands: which output of which sentence, at which token.
struct DrawPlace {
  int64_t sentence = 0, sample = 0, step = 0;
};

/// The uniform number in (0, 1) that belongs to a place, from Philox.
double uniform_at(const DrawPlace& place, const RandomSampling& options);

/// The token at quantile `uniform` of softmax(logits / temperature), cut as the options say; tokens
/// with a logit of -infinity are left out. Nothing where no logit is a number.
std::optional<int64_t> draw(const std::vector<float>& logits, const RandomSampling& options,
                            double uniform);

}  // namespace ballast
