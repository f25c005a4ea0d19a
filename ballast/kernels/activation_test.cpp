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
  EXPECT_EQ(info_of(Elementwise::relu_squared).name, "relu_squared");
}

TEST(Elementwise, ValueIsATensAndSlopeItsDerivative) {
  for (const ElementwiseInfo& info : elementwise_functions()) {
    for (const double x : {-20.0, -3.1, -0.7, -1e-3, 1e-3, 0.4, 2.6, 20.0}) {
      const double value = info.value(x, parameter);
      const torch::Tensor given = info.apply(torch::full({1}, x, torch::kFloat64), parameter);
      EXPECT_NEAR(value, given.item<double>(), 1e-12) << info.name << ' ' << x;
      const double step = 1e-6;
      const double measured =
          (info.value(x + step, parameter) - info.value(x - step, parameter)) / (2 * step);
      EXPECT_NEAR(info.slope(x, parameter), measured, 1e-7) << info.name << ' ' << x;
    }
  }
}

// E f and E f^2 for x from N(0, 1), to 40 digits by mpmath.
TEST(Elementwise, MomentsUnderANormalInputAreThoseOfTheLiterature) {
  struct Moments {
    Elementwise function;
    double first, second;
  };
  const Moments known[] = {{Elementwise::selu, 0, 1},
                           {Elementwise::gelu, 0.2820947917738781, 0.42522148257029867},
                           {Elementwise::gelu_tanh, 0.2820385880787887, 0.42519371103309945},
                           {Elementwise::silu, 0.206620964141907, 0.35577551981735216},
                           {Elementwise::mish, 0.2404038883747914, 0.45234219237588277},
                           {Elementwise::tanh, 0, 0.39429449039784117},
                           {Elementwise::sigmoid, 0.5, 0.29337903585809296},
                           {Elementwise::softplus, 0.8060591833474398, 0.92124590885930028},
                           {Elementwise::relu_squared, 0.5, 1.5}};
  for (const Moments& each : known) {
    const auto& info = info_of(each.function);
    double first = 0, second = 0;
    constexpr double step = 1e-3, end = 12;  // the midpoint rule, whose kinks lie on borders
    for (double x = -end + step / 2; x < end; x += step) {
      const double weight = std::exp(-x * x / 2) / std::sqrt(2 * M_PI) * step;
      first += info.value(x, 0) * weight;
      second += info.value(x, 0) * info.value(x, 0) * weight;
    }
    EXPECT_NEAR(first, each.first, 1e-6) << info.name;
    EXPECT_NEAR(second, each.second, 1e-6) << info.name;
  }
}

TEST(Activate, AGatedPairIsTheFunctionOfTheFirstHalfTimesTheSecond) {
  const torch::Tensor x = torch::tensor({{-1.0, 2.0, 3.0, 5.0}});
  const torch::Tensor y = activate(x, {Elementwise::relu, true});
  EXPECT_TRUE(torch::equal(y, torch::tensor({{0.0, 10.0}})));
}

}  // namespace
}  // namespace ballast
