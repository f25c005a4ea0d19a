#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ballast {

/// How many numbers a scale of the stream has: none (it is 1), one, or one a feature. Products and
/// quotients have as many as the larger of their sides.
enum class Reach : uint8_t { none, one, features };

constexpr Reach operator*(Reach a, Reach b) { return std::max(a, b); }
constexpr Reach operator/(Reach a, Reach b) { return std::max(a, b); }

/// What a connection x' = N(a x + b f) does to the scale of its stream. Number is `Reach`, or a
/// tensor [] or [d].
template <class Number>
struct Sum {
  Number shortcut;         ///< a, times what scales the sum without a norm
  bool is_normed = false;  ///< whether a norm N stands there
};

/// The scales D_0 ... D_n of a stream of n connections: where the model carries x_i, one without
/// coefficients carries D_i x_i. Under a norm the sums are to be equal, so D_i = a; elsewhere the
/// shortcut is to be 1, so D_{i+1} = D_i / a. A stretch that ends without a norm begins with 1;
/// `end` is D_n where the last connection has one.
///
/// Folding the omega of Admin (Liu et al. 2020, appendix C) is the case that all are normed.
template <class Number>
std::vector<Number> gauges(const std::vector<Sum<Number>>& sums, const Number& none,
                           const Number& end) {
  const auto count = static_cast<int64_t>(sums.size());
  std::vector<Number> scale(sums.size() + 1, none);
  int64_t last = count - 1;
  while (last >= 0 && !sums[last].is_normed) --last;
  if (last == count - 1) scale[count] = end;
  for (int64_t i = last + 1; i < count; ++i) scale[i + 1] = scale[i] / sums[i].shortcut;
  for (int64_t i = last; i >= 0; --i) {
    scale[i] = sums[i].is_normed ? sums[i].shortcut : scale[i + 1] * sums[i].shortcut;
  }
  return scale;
}

}  // namespace ballast
