#pragma once

#include <cstdint>

namespace ballast {

/// The numbers of one step of Adam or a relative, with g the gradient, w the weight, m and v its
/// moments:
///
///     g' = gradient_scale g + l2 w        m = beta1 m + (1 - beta1) g'
///     w -= decay w + step m / (root sqrt(v) + epsilon)
///                                         v = beta2 v + (1 - beta2) g'^2
struct AdamUpdate {
  double beta1 = 0, beta2 = 0;
  double gradient_scale = 1;
  double l2 = 0;
  double decay = 0;  ///< small, so it is kept apart from 1 - decay, which float32 cannot resolve
  double step = 0;
  double root = 1;  ///< 0 turns the quotient into plain momentum
  double epsilon = 0;
};

/// A parameter, its gradient and its moments as contiguous arrays of one length.
struct AdamArrays {
  float* value;
  const float* gradient;  ///< null: zero
  float *first_moment, *second_moment;
  AdamUpdate update;
};

/// Updates elements [begin, end).
void adam_range(const AdamArrays& arrays, int64_t begin, int64_t end);

/// Sum of squares in float64, which holds the square of every float32.
double squares_of_range(const float* values, int64_t begin, int64_t end);

}  // namespace ballast
