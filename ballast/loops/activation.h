#pragma once

#include <cstdint>

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

}  // namespace ballast
