#pragma once

#include <cstdint>

namespace ballast {

/// A factor of the residual form: a, b or c.
struct Coefficient {
  enum class Source {
    one,
    constant,  ///< `value`
    profiled,  ///< measured by `calibrate`; `value` until then
    ramp       ///< min(1, step / `value`): grows with the updates made
  };
  Source source = Source::one;
  double value = 1;
  bool trained = false;          ///< a parameter that starts at `value`
  bool per_feature = false;      ///< a vector [d] instead of a scalar
  bool shared_in_layer = false;  ///< one parameter for all connections of a layer

  bool operator==(const Coefficient&) const = default;
};

/// A fixed number.
constexpr Coefficient constant(double value) {
  return {.source = Coefficient::Source::constant, .value = value};
}

/// A trained scalar that starts at `value`.
constexpr Coefficient trained_scalar(double value) {
  return {.source = Coefficient::Source::constant, .value = value, .trained = true};
}

/// A trained vector [d] that starts at `value` everywhere.
constexpr Coefficient trained_vector(double value) {
  return {.source = Coefficient::Source::constant,
          .value = value,
          .trained = true,
          .per_feature = true};
}

/// Grows linearly from 0 before the first update to 1 after `steps` updates.
constexpr Coefficient ramp(double steps) {
  return {.source = Coefficient::Source::ramp, .value = steps};
}

/// How a residual connection is made (docs/theory.md):
///
///     x' = N_out( a * x  +  b * N_mid( f( c * N_in(x) ) ) )
///
/// with a = shortcut, b = branch, c = input. A scheme is a function to this and nothing else.
struct ResidualForm {
  bool norm_in = false, norm_mid = false, norm_out = false;
  Coefficient shortcut, branch, input;
  bool final_norm = false;  ///< the stack needs a norm after its last connection

  bool operator==(const ResidualForm&) const = default;
};

}  // namespace ballast
