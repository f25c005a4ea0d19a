#include "ballast/theory/truncated_normal.h"

#include <cmath>

#include "ballast/base/normal.h"

namespace ballast {
namespace {

/// x phi(x), which is 0 at both infinities.
double weighted_density(double x) { return std::isinf(x) ? 0.0 : x * normal_density(x); }

}  // namespace

TruncatedMoments truncated_normal_moments(double mean, double std, double low, double high) {
  const double a = (low - mean) / std, b = (high - mean) / std;
  // In the upper tail the difference of two numbers near 1 has no digits left; its mirror has.
  const double inside = a > 0 ? normal_distribution(-a) - normal_distribution(-b)
                              : normal_distribution(b) - normal_distribution(a);
  const double shift = (normal_density(a) - normal_density(b)) / inside;
  const double spread = (weighted_density(a) - weighted_density(b)) / inside;
  return {mean + std * shift, std * std * (1 + spread - shift * shift)};
}

double truncation_share(double c) { return truncated_normal_moments(0, 1, -c, c).variance; }

}  // namespace ballast
