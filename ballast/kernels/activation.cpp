#include "ballast/kernels/activation.h"

#include <cmath>
#include <numbers>

namespace ballast {
namespace {

// Klambauer et al. 2017, arXiv:1706.02515: E f(x) = 0 and E f(x)^2 = 1 for x from N(0, 1).
constexpr double selu_alpha = 1.6732632423543772848, selu_lambda = 1.0507009873554804934;

constexpr double tanh_scale = 0.79788456080286535588, tanh_cubic = 0.044715;  // sqrt(2 / pi)

double below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double density(double x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double elu(double x, double a) { return x > 0 ? x : a * std::expm1(x); }
double elu_slope(double x, double a) { return x > 0 ? 1 : a * std::exp(x); }
double bent(double x) { return std::tanh(tanh_scale * (x + tanh_cubic * x * x * x)); }
double square(double x) { return x * x; }

using T = torch::Tensor;

constexpr ElementwiseInfo functions[] = {
    {Elementwise::identity, "identity", [](double x, double) { return x; },
     [](double, double) { return 1.0; }, [](const T& x, double) { return x; }},
    {Elementwise::relu, "relu", [](double x, double) { return x > 0 ? x : 0.0; },
     [](double x, double) { return x > 0 ? 1.0 : 0.0; },
     [](const T& x, double) { return torch::relu(x); }},
    {Elementwise::leaky_relu, "leaky_relu", [](double x, double a) { return x > 0 ? x : a * x; },
     [](double x, double a) { return x > 0 ? 1.0 : a; },
     [](const T& x, double a) { return torch::leaky_relu(x, a); }},
    {Elementwise::elu, "elu", elu, elu_slope,
     [](const T& x, double a) { return torch::elu(x, a); }},
    {Elementwise::selu, "selu", [](double x, double) { return selu_lambda * elu(x, selu_alpha); },
     [](double x, double) { return selu_lambda * elu_slope(x, selu_alpha); },
     [](const T& x, double) { return torch::selu(x); }},
    {Elementwise::gelu, "gelu", [](double x, double) { return x * below(x); },
     [](double x, double) { return below(x) + x * density(x); },
     [](const T& x, double) { return torch::gelu(x, "none"); }},
    {Elementwise::gelu_tanh, "gelu_tanh", [](double x, double) { return x * (1 + bent(x)) / 2; },
     [](double x, double) {
       const double rise = tanh_scale * (1 + 3 * tanh_cubic * x * x);
       return (1 + bent(x) + x * (1 - square(bent(x))) * rise) / 2;
     },
     [](const T& x, double) { return torch::gelu(x, "tanh"); }},
    {Elementwise::silu, "silu", [](double x, double) { return x * sigmoid(x); },
     [](double x, double) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); },
     [](const T& x, double) { return torch::silu(x); }},
    {Elementwise::mish, "mish", [](double x, double) { return x * std::tanh(softplus(x)); },
     [](double x, double) {
       const double t = std::tanh(softplus(x));
       return t + x * (1 - t * t) * sigmoid(x);
     },
     [](const T& x, double) { return torch::mish(x); }},
    {Elementwise::tanh, "tanh", [](double x, double) { return std::tanh(x); },
     [](double x, double) { return 1 - square(std::tanh(x)); },
     [](const T& x, double) { return torch::tanh(x); }},
    {Elementwise::sigmoid, "sigmoid", [](double x, double) { return sigmoid(x); },
     [](double x, double) { return sigmoid(x) * sigmoid(-x); },
     [](const T& x, double) { return torch::sigmoid(x); }},
    {Elementwise::softplus, "softplus", [](double x, double) { return softplus(x); },
     [](double x, double) { return sigmoid(x); },
     [](const T& x, double) { return torch::logaddexp(x, torch::zeros_like(x)); }},
    {Elementwise::relu_squared, "relu_squared",
     [](double x, double) { return x > 0 ? x * x : 0.0; },
     [](double x, double) { return x > 0 ? 2 * x : 0.0; },
     [](const T& x, double) { return torch::relu(x).square(); }}};

}  // namespace

std::span<const ElementwiseInfo> elementwise_functions() { return functions; }

torch::Tensor activate(const torch::Tensor& x, const Activation& activation) {
  const auto& info = info_of(activation.function);
  if (!activation.gated) return info.apply(x, activation.parameter);
  const std::vector<torch::Tensor> halves = x.chunk(2, -1);
  return info.apply(halves[0], activation.parameter) * halves[1];
}

}  // namespace ballast
