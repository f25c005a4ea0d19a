#include "ballast/optim/clip.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace ballast {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

OptimizedParameter with_gradient(const std::string& name, const torch::Tensor& gradient) {
  torch::Tensor value = torch::zeros_like(gradient);
  value.mutable_grad() = gradient;
  return {name, value};
}

std::vector<OptimizedParameter> hundred(float gradient) {
  std::vector<OptimizedParameter> parameters;
  for (int i = 0; i < 100; ++i) {
    parameters.push_back(with_gradient(std::to_string(i), torch::full({1}, gradient)));
  }
  return parameters;
}

// C27: in float32 the sum of squares would be inf and every clipped gradient 0.
TEST(Clip, C27HugeFiniteGradientsAreClippedExactly) {
  const auto parameters = hundred(1e20f);
  const double norm = gradient_norm(parameters);
  EXPECT_NEAR(norm, 1e21, 1e15);
  const auto scale = clip_scale(norm, 1);
  ASSERT_TRUE(scale.has_value());
  EXPECT_NEAR(*scale * 1e20, 0.1, 1e-7);

  Optimizer optimizer(Adam{.beta1 = 0}, parameters);
  optimizer.step(1, *scale);
  EXPECT_NEAR(optimizer.state()[1].value.item<float>(), 0.1, 1e-7);
}

TEST(Clip, C27NonFiniteNormHasNoScaleAndATensorToBlame) {
  auto parameters = hundred(1e20f);
  parameters[42] = with_gradient("guilty", torch::tensor({0.0f, infinity}));
  parameters[60] = with_gradient("later", torch::tensor({NAN}));
  EXPECT_FALSE(std::isfinite(gradient_norm(parameters)));
  EXPECT_EQ(clip_scale(gradient_norm(parameters), 1), std::nullopt);
  EXPECT_EQ(clip_scale(gradient_norm(parameters), 0), std::nullopt);
  EXPECT_EQ(first_non_finite_gradient(parameters), "guilty");
  EXPECT_EQ(first_non_finite_gradient(hundred(1e20f)), "");
}

TEST(Clip, NormIsTheNormOfAllGradientsTogether) {
  std::vector<OptimizedParameter> parameters{
      with_gradient("long", torch::full({100003}, 0.5f)),
      with_gradient("strided", torch::full({4, 3}, 2.0f).t()),
      with_gradient("double", torch::full({5}, 3.0, torch::kDouble)),
      {"none", torch::ones({7})},
  };
  EXPECT_NEAR(gradient_norm(parameters), std::sqrt(100003 * 0.25 + 12 * 4 + 5 * 9), 1e-10);
  EXPECT_EQ(gradient_norm({}), 0);
}

TEST(Clip, NormDoesNotDependOnThreads) {
  const std::vector<OptimizedParameter> parameters{
      with_gradient("w", torch::sin(torch::arange(300001, torch::kFloat)))};
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double alone = gradient_norm(parameters);
  at::set_num_threads(2);
  EXPECT_EQ(gradient_norm(parameters), alone);
  at::set_num_threads(before);
}

TEST(Clip, ScaleShrinksOnlyWhatIsTooLong) {
  EXPECT_EQ(clip_scale(0.5, 1), 1.0);
  EXPECT_DOUBLE_EQ(clip_scale(4, 1).value(), 1 / (4 + 1e-6));
  EXPECT_EQ(clip_scale(1e9, 0), 1.0);
}

}  // namespace
}  // namespace ballast
