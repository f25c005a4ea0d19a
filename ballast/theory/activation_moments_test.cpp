#include "ballast/theory/activation_moments.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "ballast/base/normal.h"
#include "ballast/theory/admin.h"

namespace ballast {
namespace {

void expect_close(double found, double expected, double tolerance = 1e-12) {
  EXPECT_NEAR(found, expected, tolerance * std::max(1.0, std::abs(expected)));
}

double square(double x) { return x * x; }

TEST(Quadrature, IntegratesSingularEndsAndExpectationsOfPowers) {
  expect_close(integral([](double x) { return 1 / std::sqrt(x); }, 0, 1), 2, 1e-12);
  EXPECT_EQ(integral([](double x) { return x; }, 1, 1), 0);
  expect_close(normal_expectation([](double x) { return x * x; }, 1e-20), 1e-40, 1e-52);
  expect_close(normal_expectation([](double x) { return std::pow(x, 8); }, 2), 105 * 256, 1e-14);
  EXPECT_EQ(normal_expectation([](double x) { return x * x * x; }), 0);
}

// Of tanh(alpha x) and erf(alpha x) under N(0, 1), which replace norms; by mpmath with 40 digits.
TEST(Quadrature, ScaledInputsHaveTheMomentsOfPointwiseNorms) {
  struct Known {
    double alpha, tanh, erf;
  };
  const std::array<Known, 3> known{{{0.2, 0.03711758721137, 0.047200251852539},
                                    {0.5, 0.17351614343237, 0.21634689593879},
                                    {0.8, 0.31498492072347, 0.37947683776598}}};
  for (const auto& [alpha, tanh, erf] : known) {
    expect_close(normal_expectation([](double x) { return square(std::tanh(x)); }, alpha), tanh);
    expect_close(normal_expectation([](double x) { return square(std::erf(x)); }, alpha), erf);
  }
}

TEST(ActivationMoments, KinksMayStandAnywhere) {
  // relu(x - 1): E f = phi(1) - Phi(-1), E f^2 = 2 Phi(-1) - phi(1), E f'^2 = Phi(-1).
  const ScalarFunction late{[](double x) { return std::max(x - 1, 0.0); },
                            [](double x) { return x > 1 ? 1.0 : 0.0; },
                            {1}};
  const ActivationMoments found = activation_moments(late);
  const double above = normal_distribution(-1), density = normal_density(1);
  expect_close(found.mean, density - above, 1e-15);
  expect_close(found.second, 2 * above - density, 1e-15);
  expect_close(found.variance, 2 * above - density - square(density - above), 1e-15);
  expect_close(found.slope_second, above, 1e-15);
}

TEST(ActivationMoments, ANearlyConstantFunctionKeepsTheDigitsOfItsVariance) {
  const ScalarFunction f{[](double x) { return 1 + 1e-9 * x; }, [](double) { return 1e-9; }};
  EXPECT_NEAR(activation_moments(f).variance, 1e-18, 1e-24);
}

TEST(ActivationMoments, OfAnAffineMapAndOfAPairAreTheirFormulas) {
  const ActivationMoments f{0.5, 1.25, 1, 0.75};
  const ActivationMoments moved = affine_moments(f, 2, -1);
  EXPECT_EQ(moved.mean, 0);
  EXPECT_EQ(moved.second, 4);
  EXPECT_EQ(moved.variance, 4);
  EXPECT_EQ(moved.slope_second, 3);
  const ActivationMoments pair = gated_moments(f, 3);
  EXPECT_EQ(pair.mean, 0);
  EXPECT_EQ(pair.second, 1.25 * 9);
  EXPECT_EQ(pair.variance, 1.25 * 9);
  EXPECT_EQ(pair.slope_second, 0.75 * 9 + 1.25);
}

// The closed forms of Klambauer et al. 2017, arXiv:1706.02515, and their published digits.
TEST(SeluConstants, AreTheRootsAndTheClosedForm) {
  const SeluConstants found = selu_constants();
  EXPECT_NEAR(found.alpha, 1.6732632423543772848, 1e-15);
  EXPECT_NEAR(found.lambda, 1.0507009873554804934, 1e-15);
  const double pi = std::numbers::pi, e = std::numbers::e;
  const double a = std::erfc(1 / std::numbers::sqrt2), b = std::erfc(std::numbers::sqrt2);
  EXPECT_NEAR(found.alpha, -std::sqrt(2 / pi) / (a * std::sqrt(e) - 1), 2e-15);
  const double inside = 2 * b * e * e + pi * a * a * e - 2 * (2 + pi) * a * std::sqrt(e) + pi + 2;
  EXPECT_NEAR(found.lambda, (1 - a * std::sqrt(e)) * std::sqrt(2 * pi) / std::sqrt(inside), 2e-15);
}

TEST(SeluConstants, OfAnotherStdHaveItForTheirFixedPoint) {
  for (const double std : {0.1, 0.5, 3.0}) {
    const auto [alpha, lambda] = selu_constants(std);
    const auto value = [a = alpha, l = lambda](double x) {
      return l * (x > 0 ? x : a * std::expm1(x));
    };
    EXPECT_NEAR(normal_expectation(value, std), 0, 1e-15);
    EXPECT_NEAR(normal_expectation([&](double x) { return square(value(x)); }, std), std * std,
                1e-14);
  }
}

TEST(ExpectedOmegas, GrowLikeTheRootOfTheDepthForBranchesOfVarianceOne) {
  const std::vector<double> omegas = expected_omegas(1, std::array{1.0, 1.0, 1.0, 1.0});
  ASSERT_EQ(omegas.size(), 4U);
  for (size_t i = 0; i < omegas.size(); ++i) EXPECT_EQ(omegas[i], std::sqrt(i + 1.0));
}

// The published profile of admin-torch (100 encoder layers): 1.31904, 1.45503, 1.51233, 1.64282.
// Its squares differ by 0.377, 0.170 and 0.412; the input's variance 1.54 and the first branch's
// 0.2 are those of its dropout and positions.
TEST(ExpectedOmegas, FollowAProfileFromItsVariances) {
  const std::vector<double> omegas =
      expected_omegas(1.54, std::array{0.2, 0.377, 0.170, 0.412, 1.0});
  const std::array<double, 5> profile{1, 1.31904, 1.45503, 1.51233, 1.64282};
  for (size_t i = 0; i < profile.size(); ++i) EXPECT_NEAR(omegas[i], profile[i], 1e-3) << i;
}

}  // namespace
}  // namespace ballast
