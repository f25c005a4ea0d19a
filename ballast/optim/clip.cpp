#include "ballast/optim/clip.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ballast/kernels/sum_of_squares.h"

namespace ballast {

double gradient_norm(std::span<const OptimizedParameter> parameters) {
  std::vector<torch::Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const OptimizedParameter& parameter : parameters) {
    gradients.push_back(parameter.value.grad());
  }
  return std::sqrt(sum_of_squares(gradients));
}

std::string first_non_finite_gradient(std::span<const OptimizedParameter> parameters) {
  for (const OptimizedParameter& parameter : parameters) {
    if (!std::isfinite(gradient_norm({&parameter, 1}))) return parameter.name;
  }
  return {};
}

std::optional<double> clip_scale(double norm, double max_norm) {
  if (!std::isfinite(norm)) return std::nullopt;
  return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
}

}  // namespace ballast
