#include "ballast/kernels/linear.h"

#include <gtest/gtest.h>

#include "ballast/base/error.h"
#include "ballast/kernels/comparison.h"
#include "ballast/kernels/select.h"

namespace ballast {
namespace {

constexpr double tolerance = 1e-5;

Kernel fused(LinearOptions options) {
  return [=](const auto& t) { return linear(t[0], t[1], t[2], options); };
}

Kernel reference(LinearOptions options) {
  return [=](const auto& t) { return linear_reference(t[0], t[1], t[2], options); };
}

std::vector<torch::Tensor> inputs(int64_t rows, int64_t fan_in, int64_t fan_out) {
  return {drawn({rows, fan_in}, 1), drawn({fan_out, fan_in}, 2) * 0.3, drawn({fan_out}, 3)};
}

TEST(Linear, AgreesWithTheReferenceForAllActivationsAndOddShapes) {
  on_every_target([] {
    for (const Activation activation : activations) {
      for (const auto& [rows, fan_in, fan_out] :
           {std::array{1, 1, 1}, {3, 5, 7}, {13, 16, 97}, {300, 33, 20}, {1, 64, 8}}) {
        const LinearOptions options{0.7, activation};
        EXPECT_LT(error_against_reference(fused(options), reference(options),
                                          inputs(rows, fan_in, activation.arguments() * fan_out)),
                  tolerance)
            << info_of(activation.function).name << ' ' << rows << ' ' << fan_in << ' ' << fan_out;
      }
    }
  });
}

TEST(Linear, NeedsNoBias) {
  for (const double multiplier : {1.0, 0.25}) {
    const LinearOptions options{multiplier};
    std::vector<torch::Tensor> given = inputs(9, 12, 10);
    given[2] = torch::Tensor();
    EXPECT_LT(error_against_reference(fused(options), reference(options), given), tolerance);
  }
}

TEST(Linear, GivesEmptyResultsAndZeroGradientsForNoRows) {
  const auto all = with_gradients(fused({1, Activation{Elementwise::gelu}}), inputs(0, 5, 3));
  EXPECT_EQ(all[0].sizes(), (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(all[2].equal(torch::zeros({3, 5})));
  EXPECT_TRUE(all[3].equal(torch::zeros({3})));
}

// silu(1) = 0.7310586, gelu(1) = 0.8413447.
TEST(Linear, GatedPairsMultiplyTheActivatedFirstHalfByTheSecond) {
  on_every_target([] {
    const auto value = [](double g, double u, Activation activation) {
      const torch::Tensor weight = torch::tensor({g, u}, torch::kFloat32).view({2, 1});
      return linear(torch::ones({1, 1}), weight, {}, {1, activation}).item<double>();
    };
    EXPECT_EQ(value(2, -3, Activation{Elementwise::relu, true}), -6);
    EXPECT_EQ(value(-2, 3, Activation{Elementwise::relu, true}), 0);
    EXPECT_NEAR(value(1, 3, Activation{Elementwise::gelu, true}), 3 * 0.8413447, 1e-6);
    EXPECT_NEAR(value(1, 3, Activation{Elementwise::silu, true}), 3 * 0.7310586, 1e-6);
  });
}

TEST(Linear, RefusesAPairOfAnOddNumberOfRows) {
  EXPECT_THROW(linear(torch::ones({1, 2}), torch::ones({3, 2}), {},
                      {1, Activation{Elementwise::silu, true}}),
               RecipeError);
}

TEST(Linear, TakesTransposedInputs) {
  const torch::Tensor x = drawn({6, 9}, 1).t(), w = drawn({6, 4}, 2).t(), none;
  EXPECT_LT(relative_error(linear(x, w, none),
                           linear_reference(x.to(torch::kFloat64), w.to(torch::kFloat64), none)),
            tolerance);
}

TEST(Linear, RepeatsBitForBit) {
  EXPECT_TRUE(repeats_bit_for_bit(fused({1, Activation{Elementwise::gelu}}), inputs(700, 48, 200)));
}

TEST(Linear, KeepsNotANumberThroughEveryActivation) {
  on_every_target([] {
    for (const Activation activation : activations) {
      const torch::Tensor x = torch::full({1, 9}, std::nan(""));
      const torch::Tensor y = linear(x, torch::ones({8, 9}), {}, {1, activation});
      EXPECT_TRUE(y.isnan().all().item<bool>()) << info_of(activation.function).name;
    }
  });
}

TEST(Linear, RefusesSecondDerivativesOfTheFusedVersionOnly) {
  const torch::Tensor x = drawn({2, 3}, 1).set_requires_grad(true), w = drawn({2, 3}, 2);
  const auto gradient = [&] {
    return torch::autograd::grad({linear(x, w, {}, {1, Activation{Elementwise::silu}}).sum()}, {x},
                                 {}, true, true);
  };
  EXPECT_THROW(gradient(), RecipeError);
  const ReferenceKernels scope;
  EXPECT_TRUE(gradient()[0].requires_grad());
}

TEST(LinearReference, HasTheGradientsOfFiniteDifferences) {
  for (const Activation activation : activations) {
    EXPECT_LT(finite_difference_error(reference({0.7, activation}), inputs(4, 3, 6)), 1e-7);
  }
}

// C11: the two forms of GELU differ by at most 4.732e-4, at |x| = 2.699.
TEST(Linear, C11GeluVariantsKeepTheirValuesAtOneAndTheirLargestGap) {
  on_every_target([] {
    const auto value = [](const torch::Tensor& x, Activation activation) {
      return linear(x.view({-1, 1}), torch::ones({1, 1}), {}, {1, activation}).flatten();
    };
    const torch::Tensor one = torch::ones({1});
    EXPECT_NEAR(value(one, Activation{Elementwise::gelu}).item<double>(), 0.8413447, 1e-7);
    EXPECT_NEAR(value(one, Activation{Elementwise::gelu_tanh}).item<double>(), 0.8411920, 1e-7);
    const torch::Tensor x = torch::linspace(-6, 6, 12001);
    const torch::Tensor gap =
        (value(x, Activation{Elementwise::gelu}) - value(x, Activation{Elementwise::gelu_tanh}))
            .abs();
    EXPECT_NEAR(gap.max().item<double>(), 4.732e-4, 1e-6);
    EXPECT_NEAR(x[gap.argmax()].abs().item<double>(), 2.699, 0.01);
  });
}

// erfc(x / sqrt(2)) / 2 from Boost.Math through libtorch in double: the tail must keep its digits.
TEST(Linear, GeluKeepsRelativeAccuracyInTheTail) {
  const torch::Tensor x = torch::linspace(-9, -1, 81);
  const torch::Tensor fused_y =
      linear(x.view({-1, 1}), torch::ones({1, 1}), {}, {1, Activation{Elementwise::gelu}})
          .flatten();
  const torch::Tensor wide = x.to(torch::kFloat64);
  const torch::Tensor exact = wide * torch::special_erfc(-wide * M_SQRT1_2) * 0.5;
  EXPECT_LT((fused_y / exact - 1).abs().max().item<double>(), 1e-5);
}

}  // namespace
}  // namespace ballast
