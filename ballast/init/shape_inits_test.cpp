#include "ballast/init/shape_inits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/init/init.h"

namespace ballast {
namespace {

constexpr ParameterFacts wide{.role = Role::feed_forward_out, .fan_in = 2048, .fan_out = 512};

using HeNormal = VarianceScaling<Family::he, Distribution::normal>;
using HeUniform = VarianceScaling<Family::he, Distribution::uniform>;
using LecunTruncated = VarianceScaling<Family::lecun, Distribution::truncated_normal>;

TEST(VarianceScaling, KerasAndTensorFlowDifferByTheShareThatACutKeeps) {
  const double std = 1 / std::sqrt(2048.0);
  EXPECT_NEAR(LecunTruncated{}.matrix(wide).std, std, 1e-15);
  EXPECT_NEAR(LecunTruncated{.corrected = false}.matrix(wide).std, std * 0.87962566103423980,
              1e-15);
  EXPECT_NEAR((LecunTruncated{.cut = 3, .corrected = false}.matrix(wide).std),
              std * 0.98657839255810862, 1e-15);
  EXPECT_EQ(LecunTruncated{.cut = 3}.matrix(wide).cut, 3);
}

TEST(VarianceScaling, HeCountsTheSlopeBelowZeroAndEitherFan) {
  EXPECT_NEAR((HeNormal{.slope = 0.5}.matrix(wide).std), std::sqrt(2 / (1.25 * 2048)), 1e-15);
  EXPECT_NEAR((HeNormal{.fan = Fan::out}.matrix(wide).std), std::sqrt(2 / 512.0), 1e-15);
}

TEST(TorchDefault, IsHeUniformWithASlopeOfRootFiveAlsoInBiases) {
  const Draw found = TorchDefault{}.matrix(wide);
  EXPECT_NEAR(found.std, HeUniform{.slope = std::sqrt(5.0)}.matrix(wide).std, 1e-15);
  const std::optional<Draw> bias =
      draw_of(TorchDefault{}, {.role = Role::bias, .fan_in = 2048, .fan_out = 512});
  ASSERT_TRUE(bias);
  const torch::Tensor values = drawn(*bias, {100000}, 1);
  const double bound = 1 / std::sqrt(2048.0);
  EXPECT_LE(values.abs().max().item<double>(), bound);
  EXPECT_GT(values.abs().max().item<double>(), 0.999 * bound);
  EXPECT_FALSE(draw_of(TorchDefault{}, {.role = Role::norm_gain, .fan_in = 512}));
}

TEST(Orthogonal, KeepsTheLengthOfAVectorOrTheSecondMomentOfAFeature) {
  const ParameterFacts tall{.role = Role::feed_forward_in, .fan_in = 12, .fan_out = 48};
  const torch::Tensor x = drawn({Distribution::normal, 1}, {12}, 5);
  const auto y = [&](const Orthogonal& rule) {
    return torch::mv(drawn(rule.matrix(tall), {48, 12}, 1), x);
  };
  const auto sum = [](const torch::Tensor& v) { return v.square().sum().item<double>(); };
  const auto mean = [](const torch::Tensor& v) { return v.square().mean().item<double>(); };
  EXPECT_NEAR(sum(y({})), sum(x), 1e-12);
  EXPECT_NEAR(mean(y({.keeps_moment = true})), mean(x), 1e-12);
  const ParameterFacts wide_matrix{.fan_in = 48, .fan_out = 12};
  EXPECT_EQ(Orthogonal{.keeps_moment = true}.matrix(wide_matrix).std,
            Orthogonal{}.matrix(wide_matrix).std);
}

// E f^2 and E f'^2 of gelu under N(0, 1), made with 40 digits.
TEST(ActivationMatched, TakesTheSecondMomentsOfWhatTheSecondMatrixReads) {
  ParameterFacts facts = wide;
  facts.activation = {.value = 0.42522148257029867, .slope = 0.4558508656492871};
  const ActivationMatched forward, backward{.direction = Direction::backward};
  EXPECT_NEAR(forward.matrix(facts).std * std::sqrt(2048.0), 1.533530441195535, 1e-14);
  EXPECT_NEAR(std::pow(backward.matrix(facts).std, -2), 512 * 0.4558508656492871, 1e-10);
  facts.role = Role::feed_forward_in;  // reads the stream, no function
  EXPECT_NEAR(forward.matrix(facts).std, 1 / std::sqrt(2048.0), 1e-15);
}

TEST(ActivationMatched, IsHeForRelu) {
  ParameterFacts facts = wide;
  facts.activation = {.value = 0.5, .slope = 0.5};
  EXPECT_NEAR(ActivationMatched{}.matrix(facts).std, HeNormal{}.matrix(facts).std, 1e-15);
  EXPECT_NEAR(ActivationMatched{.direction = Direction::backward}.matrix(facts).std,
              HeNormal{.fan = Fan::out}.matrix(facts).std, 1e-15);
}

}  // namespace
}  // namespace ballast
