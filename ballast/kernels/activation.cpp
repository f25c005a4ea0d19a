#include "ballast/kernels/activation.h"

#include <vector>

namespace ballast {
namespace {

using T = torch::Tensor;

// Each at the place of its number.
constexpr T (*functions[])(const T& x, double a) = {
    [](const T& x, double) { return x; },
    [](const T& x, double) { return torch::relu(x); },
    [](const T& x, double a) { return torch::leaky_relu(x, a); },
    [](const T& x, double a) { return torch::elu(x, a); },
    [](const T& x, double) { return torch::selu(x); },
    [](const T& x, double) { return torch::gelu(x, "none"); },
    [](const T& x, double) { return torch::gelu(x, "tanh"); },
    [](const T& x, double) { return torch::silu(x); },
    [](const T& x, double) { return torch::mish(x); },
    [](const T& x, double) { return torch::tanh(x); },
    [](const T& x, double) { return torch::sigmoid(x); },
    [](const T& x, double) { return torch::logaddexp(x, torch::zeros_like(x)); },
    [](const T& x, double) { return torch::relu(x).square(); },
    [](const T& x, double) { return x * torch::sigmoid(1.702 * x); },
    [](const T& x, double) { return x / (1 + x.abs()); },
    [](const T& x, double) { return torch::erf(x); }};

T scaled_and_shifted(const T& y, const Activation& activation) {
  if (activation.shift == 0) return activation.scale == 1 ? y : y * activation.scale;
  return torch::scalar_tensor(activation.shift, y.options()).add(y, activation.scale);
}

}  // namespace

T apply(Elementwise function, const T& x, double a) {
  return functions[static_cast<size_t>(function)](x, a);
}

T activate(const T& x, const Activation& activation) {
  const double a = activation.parameter;
  if (!activation.gated) return scaled_and_shifted(apply(activation.function, x, a), activation);
  const std::vector<T> halves = x.chunk(2, -1);
  return scaled_and_shifted(apply(activation.function, halves[0], a) * halves[1], activation);
}

}  // namespace ballast
