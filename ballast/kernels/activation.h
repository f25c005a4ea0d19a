#pragma once

#include <torch/types.h>

#include <span>
#include <string_view>

#include "ballast/loops/activation.h"

namespace ballast {

/// What everybody may know of a function: its name, its value and slope in float64, and ATen's
/// version for any device, type and derivative. `a` is the activation's parameter.
struct ElementwiseInfo {
  Elementwise function;
  std::string_view name;
  double (*value)(double x, double a);
  double (*slope)(double x, double a);
  torch::Tensor (*apply)(const torch::Tensor& x, double a);
};

/// All of them, each at the place of its number.
std::span<const ElementwiseInfo> elementwise_functions();

inline const ElementwiseInfo& info_of(Elementwise function) {
  return elementwise_functions()[static_cast<size_t>(function)];
}

/// The activation of x, over the last dimension. GELU(1) is 0.8413447 (`gelu`) or 0.8411920
/// (`gelu_tanh`).
torch::Tensor activate(const torch::Tensor& x, const Activation& activation);

}  // namespace ballast
