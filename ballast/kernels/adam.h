#pragma once

#include <torch/types.h>

#include <span>

#include "ballast/loops/adam_loops.h"

namespace ballast {

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
