#pragma once

namespace ballast {

/// What measures a row: its population variance, its mean being taken away, or its mean square.
enum class Statistic { layer, rms };

/// Where eps stands in the divisor, s being the variance or the mean square: sqrt(s + eps), sqrt(s)
/// + eps, or max(sqrt(s), eps). For a row of 1e-4 and eps 1e-6 the three give 0.0995037, 0.990099
/// and 1, so a checkpoint must say which.
enum class EpsPlacement { inside_root, outside_root, clamp };

/// How a row is normalised, without gain and bias. The defaults are those of layer norm.
struct NormSpec {
  Statistic statistic = Statistic::layer;
  double eps = 1e-5;  ///< unit of s inside the root, of x otherwise
  EpsPlacement placement = EpsPlacement::inside_root;
};

}  // namespace ballast
