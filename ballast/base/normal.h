#pragma once

#include <cmath>
#include <numbers>

namespace ballast {

/// Density of N(0, 1).
inline double normal_density(double x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

/// Distribution function of N(0, 1); the lower tail keeps its relative accuracy.
inline double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace ballast
