#include "ballast/theory/truncated_normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ballast {
namespace {

// Computed with 40 digits.
TEST(TruncatedNormal, SymmetricCutsKeepTheTabledShareOfTheVariance) {
  EXPECT_NEAR(truncation_share(1), 0.2911250947727932, 1e-14);
  EXPECT_NEAR(truncation_share(2), 0.7737413035499232, 1e-14);
  EXPECT_NEAR(truncation_share(3), 0.9733369246625415, 1e-14);
  EXPECT_NEAR(truncation_share(5), 0.9999851327963292, 1e-14);
}

TEST(TruncatedNormal, AHalfLineHasTheHalfNormalMoments) {
  const double infinity = std::numeric_limits<double>::infinity();
  const TruncatedMoments half = truncated_normal_moments(0, 2, 0, infinity);
  EXPECT_NEAR(half.mean, 2 * std::sqrt(2 / M_PI), 1e-14);
  EXPECT_NEAR(half.variance, 4 * (1 - 2 / M_PI), 1e-14);
}

TEST(TruncatedNormal, AnIntervalInTheFarTailKeepsItsDigits) {
  // On [10, 11] the density falls like exp(-10 x): mean and variance are near 10 + 1/10 and 1/100.
  const TruncatedMoments tail = truncated_normal_moments(0, 1, 10, 11);
  EXPECT_NEAR(tail.mean, 10.0981, 1e-3);
  EXPECT_NEAR(tail.variance, 0.00944, 2e-4);
}

}  // namespace
}  // namespace ballast
