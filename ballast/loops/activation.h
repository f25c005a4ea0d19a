#pragma once

#include <cstdint>

namespace ballast {

/// Functions of single elements that an activation may have: f(x), with a the activation's
/// `parameter`. Loops exist for identity, relu, gelu, gelu_tanh, silu, sigmoid and relu_squared
/// (`has_loop`); the others run by ATen. Papers are named by the kinds in
/// `layers/activation_kinds.h`.
enum class Elementwise : uint8_t {
  identity,
  relu,
  leaky_relu,  ///< x or a x below 0
  elu,         ///< x or a (e^x - 1) below 0
  selu,        ///< lambda elu(x, alpha), constants by which N(0, 1) keeps mean and variance
  gelu,        ///< x Phi(x), Phi the distribution function of N(0, 1)
  gelu_tanh,   ///< x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2
  silu,        ///< x sigmoid(x)
  mish,        ///< x tanh(softplus(x))
  tanh,
  sigmoid,
  softplus,      ///< ln(1 + e^x)
  relu_squared,  ///< max(x, 0)^2
  quick_gelu,    ///< x sigmoid(1.702 x)
  softsign,      ///< x / (1 + |x|)
  erf
};

/// What a product goes through: f(z), or f(g) * u for rows [g | u] where it is gated (Shazeer 2020,
/// arXiv:2002.05202), so that the result has half of the columns; then scale y + shift.
struct Activation {
  Elementwise function = Elementwise::identity;
  bool gated = false;
  double parameter = 0;  ///< a of leaky_relu and elu; nothing else reads it
  double scale = 1, shift = 0;

  /// Columns of the argument for each column of the result.
  constexpr int64_t arguments() const { return gated ? 2 : 1; }
  /// Whether the result is neither scaled nor shifted.
  constexpr bool is_bare() const { return scale == 1 && shift == 0; }
  constexpr bool is_identity() const {
    return function == Elementwise::identity && !gated && is_bare();
  }

  bool operator==(const Activation&) const = default;
};

}  // namespace ballast
