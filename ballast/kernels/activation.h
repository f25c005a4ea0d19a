#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace ballast {

/// Functions of single elements that an activation may have.
enum class Elementwise : uint8_t {
  identity,
  relu,
  leaky_relu,  ///< x or a x below 0
  elu,         ///< x or a (e^x - 1) below 0
  selu,        ///< lambda elu(x, alpha), whose fixed point is N(0, 1)
  gelu,        ///< x Phi(x)
  gelu_tanh,   ///< x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2
  silu,        ///< x sigmoid(x)
  mish,        ///< x tanh(softplus(x))
  tanh,
  sigmoid,
  softplus,     ///< ln(1 + e^x)
  relu_squared  ///< max(x, 0)^2
};

/// What a product goes through: f(z), or f(g) * u for rows [g | u] where it is gated (Shazeer 2020,
/// arXiv:2002.05202), so that the result has half of the columns.
struct Activation {
  Elementwise function = Elementwise::identity;
  bool gated = false;
  double parameter = 0;  ///< a, see `Elementwise`

  /// Columns of the argument for each column of the result.
  constexpr int64_t arguments() const { return gated ? 2 : 1; }
  constexpr bool is_identity() const { return function == Elementwise::identity && !gated; }

  bool operator==(const Activation&) const = default;
};

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
