#include "ballast/theory/activation_moments.h"

#include <cmath>

namespace ballast {

ActivationMoments activation_moments(const ScalarFunction& f, double std) {
  const auto expected = [&](const RealFunction& g) { return normal_expectation(g, std, f.kinks); };
  const auto square = [](double y) { return y * y; };
  ActivationMoments found;
  found.mean = expected(f.value);
  found.second = expected([&](double x) { return square(f.value(x)); });
  // The difference of the two would lose what a nearly constant function has in common with itself.
  found.variance = expected([&](double x) { return square(f.value(x) - found.mean); });
  found.slope_second = expected([&](double x) { return square(f.slope(x)); });
  return found;
}

ActivationMoments gated_moments(const ActivationMoments& of_f, double std) {
  const double other = std * std, second = of_f.second * other;
  return {0, second, second, of_f.slope_second * other + of_f.second};
}

ActivationMoments affine_moments(const ActivationMoments& of_f, double scale, double shift) {
  const double factor = scale * scale;
  return {scale * of_f.mean + shift, factor * of_f.second + shift * (2 * scale * of_f.mean + shift),
          factor * of_f.variance, factor * of_f.slope_second};
}

SeluConstants selu_constants(double std) {
  // E f = 0 is linear in alpha and knows no lambda, E f^2 is quadratic in lambda.
  const double above = normal_expectation([](double x) { return x > 0 ? x : 0; }, std);
  const double below = normal_expectation([](double x) { return x > 0 ? 0 : std::expm1(x); }, std);
  const double alpha = -above / below;
  const double second = normal_expectation(
      [alpha](double x) { return std::pow(x > 0 ? x : alpha * std::expm1(x), 2); }, std);
  return {alpha, std / std::sqrt(second)};
}

}  // namespace ballast
