#include "ballast/theory/truncated_normal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/base/normal.h"
#include "ballast/theory/quadrature.h"

namespace ballast {
namespace {

/// The density of a cut normal over its largest value. A sum of such terms has all digits in any
/// tail, where distribution functions near 1 have none left.
class CutDensity {
 public:
  CutDensity(const NormalParent& parent, double low, double high) : unit_(parent.std) {
    const double a = (low - parent.mean) / parent.std, b = (high - parent.mean) / parent.std;
    // Ends and length are known better than as so many standard deviations from a far mean.
    const double length = (high - low) / parent.std;
    peak_ = std::clamp(0.0, a, b);
    anchor_ = a > 0 ? low : b < 0 ? high : parent.mean;
    above_ = b < 0 ? 0 : reach(a > 0 ? length : b);
    below_ = a > 0 ? 0 : reach(b < 0 ? length : -a);
    mass_ = sum(0, 0);
    shift_ = sum(1, 0) / mass_;
  }

  double probability() const { return normal_density(peak_) * mass_; }
  double mean() const { return anchor_ + unit_ * shift_; }
  /// E (x - E x)^power.
  double central(int power) const { return std::pow(unit_, power) * sum(power, shift_) / mass_; }

 private:
  /// The integral of (t - center)^power over the density, t in standard deviations from the peak.
  double sum(int power, double center) const {
    const auto side = [&](double length, double sign) {
      const auto term = [&](double t) {
        return std::pow(sign * t - center, power) * std::exp(-t * (std::abs(peak_) + t / 2));
      };
      return integral(term, 0, length);
    };
    return side(above_, 1) + side(below_, -1);
  }
  /// No further than to e^-100.
  double reach(double length) const {
    const double steep = std::abs(peak_);
    return std::min(length, 200 / (steep + std::hypot(steep, std::sqrt(200.0))));
  }

  double unit_, peak_ = 0, above_ = 0, below_ = 0, mass_ = 0, shift_ = 0, anchor_ = 0;
};

void check_interval(double low, double high) {
  if (low < high) return;
  throw RecipeError(fmt::format(
      "a truncated normal needs an interval with low < high, found [{}, {}]", low, high));
}

/// Of exp(slope y - curvature y^2 / 2), the density in units in which the wanted mean is 0 and the
/// wanted standard deviation 1.
struct Natural {
  double slope = 0, curvature = 1;

  NormalParent parent() const { return {slope / curvature, 1 / std::sqrt(curvature)}; }
};

/// How far E y and E -y^2/2 are from 0 and -1/2, and their covariances: gradient and Hessian, by
/// slope and curvature, of a convex function whose least value is the answer.
struct Misfit {
  double first, second, first_first, first_second, second_second;

  double size() const { return std::hypot(first, second); }
};

Misfit misfit_of(const Natural& density, double low, double high) {
  const CutDensity cut(density.parent(), low, high);
  const double m = cut.mean(), variance = cut.central(2), third = cut.central(3);
  const double mixed = third + 2 * m * variance;
  const double square = cut.central(4) + 4 * m * third + (4 * m * m - variance) * variance;
  return {m, (1 - variance - m * m) / 2, variance, -mixed / 2, square / 4};
}

Natural newton_step(const Misfit& at) {
  const double determinant = at.first_first * at.second_second - at.first_second * at.first_second;
  return {(at.second_second * at.first - at.first_second * at.second) / determinant,
          (at.first_first * at.second - at.first_second * at.first) / determinant};
}

/// Newton's method in steps that are shortened until the misfit falls; ends where it does no more.
std::pair<Natural, double> solved(double low, double high) {
  Natural at;
  Misfit misfit = misfit_of(at, low, high);
  for (int i = 0; i < 200 && misfit.size() > 0; ++i) {
    const Natural step = newton_step(misfit);
    bool better = false;
    for (double share = 1; share > 1e-9 && !better; share /= 2) {
      const Natural next{at.slope - share * step.slope, at.curvature - share * step.curvature};
      if (!(next.curvature > 0)) continue;
      const Misfit found = misfit_of(next, low, high);
      better = found.size() < misfit.size();
      if (better) std::tie(at, misfit) = std::tie(next, found);
    }
    if (!better) break;
  }
  return {at, misfit.size()};
}

}  // namespace

TruncatedMoments truncated_normal_moments(double mean, double std, double low, double high) {
  check_interval(low, high);
  const CutDensity cut({mean, std}, low, high);
  if (mean - low == high - mean) {
    const double share = truncation_share((high - mean) / std);
    return {mean, std * std * share, cut.probability()};
  }
  return {cut.mean(), cut.central(2), cut.probability()};
}

double truncation_share(double c) {
  if (std::isinf(c)) return 1;
  if (c < 0.5) return CutDensity({}, -c, c).central(2);  // where the closed form cancels
  const double inside = normal_distribution(c) - normal_distribution(-c);
  return 1 + (-c * normal_density(-c) - c * normal_density(c)) / inside;
}

NormalParent parent_cut_at(double a, double b, double mean, double std) {
  const TruncatedMoments unit = truncated_normal_moments(0, 1, a, b);
  const double own = std / std::sqrt(unit.variance);
  return {mean - own * unit.mean, own};
}

NormalParent parent_cut_to(double low, double high, double mean, double std) {
  check_interval(low, high);
  if (!(low < mean && mean < high && std > 0)) {
    throw RecipeError(fmt::format(
        "a sample of [{}, {}] has a mean between its ends and a positive std, found {} and {}", low,
        high, mean, std));
  }
  if (std::isinf(low) && std::isinf(high)) return {mean, std};
  const auto [density, misfit] = solved((low - mean) / std, (high - mean) / std);
  if (!(misfit < 1e-10)) {
    throw RecipeError(fmt::format(
        "no normal distribution cut to [{}, {}] has mean {} and std {}; ask for a smaller std or a "
        "wider interval",
        low, high, mean, std));
  }
  const NormalParent parent = density.parent();
  return {mean + std * parent.mean, std * parent.std};
}

}  // namespace ballast
