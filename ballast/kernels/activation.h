#pragma once

#include <torch/types.h>

#include "ballast/loops/activation.h"
#include "ballast/loops/elementwise.h"

namespace ballast {

/// ATen's version of a function, for any device, type and derivative.
torch::Tensor apply(Elementwise function, const torch::Tensor& x, double a = 0);

/// The activation of x, over the last dimension. GELU(1) is 0.8413447 (`gelu`) or 0.8411920
/// (`gelu_tanh`).
torch::Tensor activate(const torch::Tensor& x, const Activation& activation);

}  // namespace ballast
