#include "ballast/loops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ballast/base/normal.h"

namespace ballast {
namespace {

// Klambauer et al. 2017, arXiv:1706.02515: E f(x) = 0 and E f(x)^2 = 1 for x from N(0, 1).
constexpr double selu_alpha = 1.6732632423543772848, selu_lambda = 1.0507009873554804934;

constexpr double quick = 1.702;
constexpr double tanh_scale = 0.79788456080286535588, tanh_cubic = 0.044715;  // sqrt(2 / pi)

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double elu(double x, double a) { return x > 0 ? x : a * std::expm1(x); }
double elu_slope(double x, double a) { return x > 0 ? 1 : a * std::exp(x); }
double bent(double x) { return std::tanh(tanh_scale * (x + tanh_cubic * x * x * x)); }
double square(double x) { return x * x; }

constexpr ElementwiseInfo functions[] = {
    {Elementwise::identity, "identity", [](double x, double) { return x; },
     [](double, double) { return 1.0; }},
    {Elementwise::relu, "relu", [](double x, double) { return x > 0 ? x : 0.0; },
     [](double x, double) { return x > 0 ? 1.0 : 0.0; }},
    {Elementwise::leaky_relu, "leaky_relu", [](double x, double a) { return x > 0 ? x : a * x; },
     [](double x, double a) { return x > 0 ? 1.0 : a; }},
    {Elementwise::elu, "elu", elu, elu_slope},
    {Elementwise::selu, "selu", [](double x, double) { return selu_lambda * elu(x, selu_alpha); },
     [](double x, double) { return selu_lambda * elu_slope(x, selu_alpha); }},
    {Elementwise::gelu, "gelu", [](double x, double) { return x * normal_distribution(x); },
     [](double x, double) { return normal_distribution(x) + x * normal_density(x); }},
    {Elementwise::gelu_tanh, "gelu_tanh", [](double x, double) { return x * (1 + bent(x)) / 2; },
     [](double x, double) {
       const double rise = tanh_scale * (1 + 3 * tanh_cubic * x * x);
       return (1 + bent(x) + x * (1 - square(bent(x))) * rise) / 2;
     }},
    {Elementwise::silu, "silu", [](double x, double) { return x * sigmoid(x); },
     [](double x, double) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }},
    {Elementwise::mish, "mish", [](double x, double) { return x * std::tanh(softplus(x)); },
     [](double x, double) {
       const double t = std::tanh(softplus(x));
       return t + x * (1 - t * t) * sigmoid(x);
     }},
    {Elementwise::tanh, "tanh", [](double x, double) { return std::tanh(x); },
     [](double x, double) { return 1 - square(std::tanh(x)); }},
    {Elementwise::sigmoid, "sigmoid", [](double x, double) { return sigmoid(x); },
     [](double x, double) { return sigmoid(x) * sigmoid(-x); }},
    {Elementwise::softplus, "softplus", [](double x, double) { return softplus(x); },
     [](double x, double) { return sigmoid(x); }},
    {Elementwise::relu_squared, "relu_squared",
     [](double x, double) { return x > 0 ? x * x : 0.0; },
     [](double x, double) { return x > 0 ? 2 * x : 0.0; }},
    {Elementwise::quick_gelu, "quick_gelu", [](double x, double) { return x * sigmoid(quick * x); },
     [](double x, double) {
       const double s = sigmoid(quick * x);
       return s * (1 + quick * x * (1 - s));
     }},
    {Elementwise::softsign, "softsign", [](double x, double) { return x / (1 + std::abs(x)); },
     [](double x, double) { return 1 / square(1 + std::abs(x)); }},
    {Elementwise::erf, "erf", [](double x, double) { return std::erf(x); },
     [](double x, double) { return 2 * std::numbers::inv_sqrtpi * std::exp(-x * x); }}};

}  // namespace

std::span<const ElementwiseInfo> elementwise_functions() { return functions; }

}  // namespace ballast
