#pragma once

#include <torch/types.h>

#include <span>

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

/// A parameter, its gradient, its moments, all of one shape, and the numbers that it is updated by.
struct AdamTensors {
  torch::Tensor value;
  torch::Tensor gradient;  ///< undefined: a gradient of zero
  torch::Tensor first_moment, second_moment;
  AdamUpdate update;
};

/// Updates values and moments in place.
///
/// Contiguous float32 tensors on the CPU are swept together, in one pass that reads each of their
/// elements once; all others go through the reference. An element's result depends on nothing but
/// that element: neither on the number of threads nor on the instruction set.
void adam(std::span<const AdamTensors> all);

/// The ATen version, for any device and type, computed in the type of the moments.
void adam_reference(const AdamTensors& tensors);

}  // namespace ballast
