#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ballast/decode/options.h"

namespace ballast {

/// Where a random draw stands: which output of which sentence, at which token.
struct DrawPlace {
  int64_t sentence = 0, sample = 0, step = 0;
};

/// The uniform number in (0, 1) that belongs to a place and a seed, from Philox.
double uniform_at(const DrawPlace& place, int64_t seed);

/// What is cut off softmax(logits / temperature) before a draw, in this order, which is that of
/// Hugging Face's transformers. What is left always holds the likeliest token; of equally likely
/// ones those with the lower ids stay.
struct Cut {
  double temperature = 1;  ///< above 0
  int64_t top_k = 0;       ///< keep the likeliest so many; 0: all
  double top_p = 1;        ///< keep the fewest of the likeliest with this probability together
  double min_p = 0;        ///< keep what has this share of the likeliest's probability
};

/// What translations are drawn by.
inline Cut cut_of(const RandomSampling& options) {
  return {options.temperature, options.top_k, options.top_p};
}

/// The token at quantile `uniform` of what a cut leaves; tokens with a logit of -infinity or NaN
/// are left out. Nothing where no logit is a number.
std::optional<int64_t> draw(std::span<const float> logits, const Cut& cut, double uniform);

/// The token with the largest logit, of equal ones the first. Nothing where no logit is a number.
std::optional<int64_t> likeliest(std::span<const float> logits);

}  // namespace ballast
