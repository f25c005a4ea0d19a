#include "ballast/theory/quadrature.h"

#include <algorithm>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>
#include <limits>

#include "ballast/base/normal.h"

namespace ballast {
namespace {

/// Sums of an integrand and of its absolute value.
struct Sums {
  double signed_sum = 0, size = 0;

  double value() const {
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * size;
    return std::abs(signed_sum) <= rounding ? 0 : signed_sum;
  }
};

void add(Sums& sums, const RealFunction& f, double low, double high) {
  if (!(low < high)) return;
  static boost::math::quadrature::tanh_sinh<double> rule;
  // Two refinements differ by this much where the finer one has all digits: each doubles them.
  constexpr double difference = 1e-9;
  double size = 0;
  sums.signed_sum += rule.integrate(f, low, high, difference, nullptr, &size);
  sums.size += size;
}

// Beyond it the density of N(0, 1) is no normal number.
constexpr double reach = 37;

}  // namespace

double integral(const RealFunction& f, double low, double high) {
  Sums sums;
  add(sums, f, low, high);
  return sums.value();
}

double normal_expectation(const RealFunction& f, double std, const std::vector<double>& kinks) {
  std::vector<double> borders{-reach, 0, reach};
  for (const double kink : kinks) borders.push_back(std::clamp(kink / std, -reach, reach));
  std::sort(borders.begin(), borders.end());
  const auto weighted = [&](double z) { return f(std * z) * normal_density(z); };
  Sums sums;
  for (size_t i = 1; i < borders.size(); ++i) add(sums, weighted, borders[i - 1], borders[i]);
  return sums.value();
}

}  // namespace ballast
