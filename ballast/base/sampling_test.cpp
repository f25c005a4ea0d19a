#include "ballast/base/sampling.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ballast/base/moments.h"

namespace ballast {
namespace {

constexpr double four_standard_errors = 4e-3;  // of the mean of a million numbers of variance 1

TEST(Sampling, NumbersDoNotDependOnTheNumberOfThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const torch::Tensor one = uniform_numbers({100001}, 5);
  at::set_num_threads(2);
  const torch::Tensor two = uniform_numbers({100001}, 5);
  at::set_num_threads(before);
  EXPECT_TRUE(torch::equal(one, two));
}

TEST(Sampling, UniformNumbersHaveTheirMoments) {
  const Moments found = moments(uniform_numbers({1000000}, 1));
  EXPECT_NEAR(found.mean, 0.5, four_standard_errors / std::sqrt(12));
  EXPECT_NEAR(found.variance(), 1.0 / 12, four_standard_errors / 12);
}

TEST(Sampling, NormalNumbersHaveMeanZeroVarianceOneAndKurtosisThree) {
  const torch::Tensor values = normal_numbers({1000000}, 2);
  const Moments found = moments(values);
  EXPECT_NEAR(found.mean, 0, four_standard_errors);
  EXPECT_NEAR(found.variance(), 1, four_standard_errors * std::sqrt(2));
  EXPECT_NEAR(values.pow(4).mean().item<double>(), 3, four_standard_errors * std::sqrt(96));
}

TEST(Sampling, ATruncatedNormalStaysInsideAlsoInTheFarTailAndOnHalfLines) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [low, high] :
       {std::pair{-1.0, 3.0}, {6.0, 7.0}, {-9.0, -8.0}, {1.0, infinity}}) {
    const torch::Tensor values = truncated_normal_numbers({10000}, 3, low, high);
    EXPECT_GE(values.min().item<double>(), low);
    EXPECT_LE(values.max().item<double>(), high);
    EXPECT_TRUE(values.isfinite().all().item<bool>()) << low;
    EXPECT_GT(moments(values).variance(), 1e-4) << low;
  }
}

}  // namespace
}  // namespace ballast
