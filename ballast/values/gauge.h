#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ballast {

/// How many numbers a scale of the stream has: none (it is 1), one, or one a feature. A
/// product has as many as the larger of its sides.
enum class Reach : uint8_t { none, one, features };

constexpr Reach operator*(Reach a, Reach b) { return std::max(a, b); }

/// What a connection x' = N(a x + b f) does to the scale of its stream. Number is `Reach`, or a
/// tensor [] or [d].
template <class Number>
struct Sum {
  Number shortcut;         ///< a, times what scales the sum without a norm
  bool is_normed = false;  ///< whether a norm N stands there
};

/// The scales D_0 ... D_n of a stream of n connections: where the model carries x_i, one without
/// coefficients carries D_i x_i, and `end` is D_n. Under a norm the sums are to be equal, so D_i =
/// a; elsewhere the shortcut is to be 1, so D_i = D_{i+1} a.
///
/// Folding the omega of Admin (Liu et al. 2020, appendix C) is the case that all are normed.
template <class Number>
std::vector<Number> gauges(const std::vector<Sum<Number>>& sums, const Number& end) {
  std::vector<Number> scale(sums.size() + 1, end);
  for (size_t i = sums.size(); i-- > 0;) {
    scale[i] = sums[i].is_normed ? sums[i].shortcut : scale[i + 1] * sums[i].shortcut;
  }
  return scale;
}

}  // namespace ballast
