#pragma once

#include <cstdint>

namespace ballast {

/// The numbers of one step of Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1) or a
/// relative, with g the gradient, w the weight, m and v its moments:
///
///     g' = gradient_scale g + l2 w        m = beta1 m + (1 - beta1) g'
///     w -= decay w + step m / (root sqrt(v) + epsilon)
///                                         v = beta2 v + (1 - beta2) g'^2
///
/// The moments move first. Corrections of their bias, 1 / (1 - beta^t), are the caller's: it puts
/// them into `step` and `epsilon`, as it puts the learning rate into `step` and `decay`.
struct AdamUpdate {
  double beta1 = 0, beta2 = 0;
  double gradient_scale = 1;  ///< that of clipping
  double l2 = 0;              ///< decay through the gradient, so the moments see it
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

/// Updates elements [begin, end) of value and moments in place, in float32; the arrays may not
/// overlap. Each product and sum is rounded by itself, so an element's bits depend neither on the
/// range nor on the instruction set. Threads may update different ranges at the same time.
void adam_range(const AdamArrays& arrays, int64_t begin, int64_t end);

/// Sum of values[i]^2 for i in [begin, end) in float64, which holds the square of every float32;
/// NaN and infinity pass through. The order of the sum depends on the range and the instruction
/// set.
double squares_of_range(const float* values, int64_t begin, int64_t end);

}  // namespace ballast
