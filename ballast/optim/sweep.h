#pragma once

#include <torch/types.h>

#include "ballast/optim/adam_kinds.h"

namespace ballast {

/// A parameter, its gradient and its moments; all of one shape.
struct SweptTensors {
  torch::Tensor value, gradient, first_moment, second_moment;
};

/// Applies one update in place to value and moments.
///
/// Contiguous float32 and float64 tensors on the CPU are swept in one pass that reads each of the
/// four once; all others go through ATen, computed in the type of the moments. An element's result
/// depends on nothing but that element, so not on the number of threads.
void sweep(const SweptTensors& tensors, const Update& update);

}  // namespace ballast
