#include "ballast/kernels/activation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ballast {
namespace {

constexpr double parameter = 0.3;

TEST(Elementwise, EveryFunctionIsAtThePlaceOfItsNumber) {
  for (size_t i = 0; i < elementwise_functions().size(); ++i) {
    EXPECT_EQ(elementwise_functions()[i].function, static_cast<Elementwise>(i));
  }
  EXPECT_EQ(info_of(Elementwise::erf).name, "erf");
}

TEST(Elementwise, ValueIsATensAndSlopeItsDerivative) {
  for (const ElementwiseInfo& info : elementwise_functions()) {
    for (const double x : {-20.0, -3.1, -0.7, -1e-3, 1e-3, 0.4, 2.6, 20.0}) {
      const double value = info.value(x, parameter);
      const torch::Tensor given =
          apply(info.function, torch::full({1}, x, torch::kFloat64), parameter);
      EXPECT_NEAR(value, given.item<double>(), 1e-12) << info.name << ' ' << x;
      const double step = 1e-6;
      const double measured =
          (info.value(x + step, parameter) - info.value(x - step, parameter)) / (2 * step);
      EXPECT_NEAR(info.slope(x, parameter), measured, 1e-7) << info.name << ' ' << x;
    }
  }
}

TEST(Activate, AGatedPairIsTheFunctionOfTheFirstHalfTimesTheSecond) {
  const torch::Tensor x = torch::tensor({{-1.0, 2.0, 3.0, 5.0}});
  const torch::Tensor y = activate(x, {Elementwise::relu, true});
  EXPECT_TRUE(torch::equal(y, torch::tensor({{0.0, 10.0}})));
}

TEST(Activate, ScaleAndShiftActOnTheResultOfThePair) {
  const torch::Tensor x = torch::tensor({{-1.0, 2.0, 3.0, 5.0}});
  const torch::Tensor y = activate(x, {Elementwise::relu, true, 0, 0.5, -1});
  EXPECT_TRUE(torch::equal(y, torch::tensor({{-1.0, 4.0}})));
  const torch::Tensor scaled = activate(x, {Elementwise::identity, false, 0, 2});
  EXPECT_TRUE(torch::equal(scaled, x * 2));
}

}  // namespace
}  // namespace ballast
