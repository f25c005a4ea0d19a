#pragma once

namespace ballast {

enum class Statistic { layer, rms };

/// Where eps stands: sqrt(s + eps), sqrt(s) + eps, or max(sqrt(s), eps). For a row of 1e-4 and eps
/// 1e-6 the three give 0.0995037, 0.990099 and 1, so a checkpoint must say which.
enum class EpsPlacement { inside_root, outside_root, clamp };

struct NormSpec {
  Statistic statistic = Statistic::layer;
  double eps = 1e-5;
  EpsPlacement placement = EpsPlacement::inside_root;
};

}  // namespace ballast
