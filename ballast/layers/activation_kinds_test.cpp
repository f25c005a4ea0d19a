#include "ballast/layers/activation_kinds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "ballast/base/moments.h"
#include "ballast/base/sampling.h"
#include "ballast/kernels/activation_moments.h"
#include "ballast/kernels/linear.h"

namespace ballast {
namespace {

ActivationChoice kind_called(std::string_view name) {
  return *ChoiceTraits<ActivationChoice>::make(name);
}

ActivationMoments moments_of(std::string_view name) {
  return moments_of(form_of(kind_called(name)));
}

/// The default row of a kind, normalised.
Activation normalized_form(const std::string& name, Normalize normalize) {
  ActivationChoice kind = kind_called(name);
  std::visit([&](auto& held) { held.normalize = normalize; }, kind);
  return form_of(kind);
}

struct Known {
  std::string_view name;
  double mean, second, variance, slope_second;
};

// Under N(0, 1), by mpmath with 40 digits. Of a pair the slope is the sum for both arguments.
constexpr std::array<Known, 21> known{{
    {"relu", 0.3989422804014327, 0.5, 0.3408450569081047, 0.5},
    {"leaky_relu", 0.3949528575974184, 0.50005, 0.3440622402756334, 0.50005},
    {"elu", 0.160520572266556, 0.64494541749292386306, 0.6191785633721412, 0.6681020012231706},
    {"selu", 0, 1, 1, 1.071574992455799},
    {"gelu", 0.2820947917738781, 0.42522148257029867492, 0.345644011024351, 0.4558508656492871},
    {"gelu_tanh", 0.2820385880787887, 0.4251937110330994512, 0.3456479458676228,
     0.4558178459629506},
    {"quick_gelu", 0.2823305528127853, 0.42195280689698080838, 0.3422422658454079,
     0.4495492004791021},
    {"silu", 0.206620964141907, 0.35577551981735215623, 0.3130832969944209, 0.3794823516328293},
    {"mish", 0.2404038883747914, 0.45234219237588277068, 0.3945481628301636, 0.4790837583739698},
    {"tanh", 0, 0.39429449039784117442, 0.39429449039784117, 0.4644029024482682},
    {"sigmoid", 0.5, 0.29337903585809296274, 0.04337903585809296, 0.04483624135019437},
    {"softplus", 0.8060591833474398, 0.92124590885930027868, 0.2715145018005587, 0.293379035858093},
    {"relu_squared", 0.5, 1.5, 1.25, 2},
    {"erf", 0, 0.46455905439753997851, 0.46455905439753997851, 0.5694100347337416},
    {"softsign", 0, 0.18301402126654749909, 0.18301402126654749909, 0.2276713404221825},
    {"bilinear", 0, 1, 1, 1 + 1},
    {"glu", 0, 0.29337903585809296, 0.29337903585809296, 0.04483624135019437 + 0.29337903585809296},
    {"reglu", 0, 0.5, 0.5, 0.5 + 0.5},
    {"geglu", 0, 0.42522148257029867, 0.42522148257029867,
     0.4558508656492871 + 0.42522148257029867},
    {"geglu_tanh", 0, 0.42519371103309945, 0.42519371103309945,
     0.4558178459629506 + 0.42519371103309945},
    {"swiglu", 0, 0.35577551981735216, 0.35577551981735216,
     0.3794823516328293 + 0.35577551981735216},
}};

TEST(ActivationKinds, MomentsUnderANormalInputAreThoseOfTheLiterature) {
  ASSERT_EQ(known.size(), std::variant_size_v<ActivationChoice>) << "a kind has no known moments";
  for (const Known& each : known) {
    const ActivationMoments found = moments_of(each.name);
    EXPECT_NEAR(found.mean, each.mean, 1e-12) << each.name;
    EXPECT_NEAR(found.second, each.second, 1e-12) << each.name;
    EXPECT_NEAR(found.variance, each.variance, 1e-12) << each.name;
    EXPECT_NEAR(found.slope_second, each.slope_second, 1e-12) << each.name;
  }
}

// E f and E f^2 for inputs from N(0, std^2), mpmath with 40 digits:
// quad(lambda z: f(std * z) * npdf(z), [-40, -8, -4, -2, -1, 0, 1, 2, 4, 8, 40]).
TEST(ActivationKinds, MomentsUnderOtherInputsAreThoseOfAnIndependentTool) {
  struct Scaled {
    std::string_view name;
    double std, mean, second;
  };
  const std::array<Scaled, 6> scaled{
      {{"gelu", 0.1, 0.0039696240574660718847, 0.0025469634945774958812},
       {"silu", 0.1, 0.0024937810306418608618, 0.0025185952815587471878},
       {"mish", 0.1, 0.0031863559644053567794, 0.0036245251799874639842},
       {"gelu", 10, 3.9696240574660718847, 49.981482730022822178},
       {"silu", 10, 3.9259560109364076918, 49.87717310747202107},
       {"mish", 10, 3.9457764618245376837, 49.984535659636208909}}};
  for (const Scaled& each : scaled) {
    const ActivationMoments found = moments_of(form_of(kind_called(each.name)), each.std);
    EXPECT_NEAR(found.mean, each.mean, 1e-12 * each.mean) << each.name << ' ' << each.std;
    EXPECT_NEAR(found.second, each.second, 1e-12 * each.second) << each.name << ' ' << each.std;
  }
  // Homogeneous functions scale, whatever the size.
  for (const double std : {1e-30, 1e-5, 1e5, 1e30}) {
    const ActivationMoments found = moments_of(Activation{Elementwise::relu}, std);
    EXPECT_NEAR(found.mean, 0.3989422804014327 * std, 1e-12 * std);
    EXPECT_NEAR(found.second, std * std / 2, 1e-12 * std * std);
    EXPECT_NEAR(found.slope_second, 0.5, 1e-12);
    // A sigmoid of a wide input is a step.
    if (std < 1) continue;
    EXPECT_NEAR(moments_of(Activation{Elementwise::sigmoid}, std).second, 0.5, 1 / std + 1e-14);
  }
}

TEST(ActivationKinds, MomentsObeyTheIdentitiesOfSteinAndTheClosedForms) {
  const double pi = std::numbers::pi;
  EXPECT_NEAR(moments_of("sigmoid").second, 0.5 - moments_of("silu").mean, 1e-14);
  EXPECT_NEAR(moments_of("softplus").slope_second, moments_of("sigmoid").second, 1e-15);
  EXPECT_NEAR(moments_of("gelu").mean, 1 / (2 * std::sqrt(pi)), 1e-15);
  EXPECT_NEAR(moments_of("gelu").second, 1.0 / 3 + 1 / (2 * pi * std::sqrt(3)), 1e-15);
  EXPECT_NEAR(moments_of("erf").second, 2 / pi * std::asin(2.0 / 3), 1e-15);
}

// The variance that a fairseq initialisation gives a feed-forward branch, from second moments
// alone: 0.39506 for widths 512 and 2048, relu and dropouts of 0.1.
TEST(ActivationKinds, SecondMomentsGiveTheVarianceOfAFeedForwardBranch) {
  const double d = 512, d_ff = 2048, weight = 2 / (d + d_ff), kept = 0.9;
  const double hidden =
      moments_of(Activation{Elementwise::relu}, std::sqrt(d * weight)).second / kept;
  EXPECT_NEAR(d_ff * weight * hidden / kept, 0.39506, 5e-6);
}

TEST(Normalize, BringsTheMomentsOfEveryKindToZeroAndOne) {
  for (const std::string& name : kind_names<ActivationChoice>()) {
    const auto scaled = moments_of(normalized_form(name, Normalize::second_moment));
    EXPECT_NEAR(scaled.second, 1, 1e-14) << name;
    const auto moved = moments_of(normalized_form(name, Normalize::mean_and_variance));
    EXPECT_NEAR(moved.mean, 0, 1e-14) << name;
    EXPECT_NEAR(moved.second, 1, 1e-13) << name;
    EXPECT_NEAR(moved.variance, 1, 1e-14) << name;
    EXPECT_TRUE(form_of(kind_called(name)).is_bare()) << name;
  }
}

TEST(Normalize, FactorsAreThoseOfTheEssay) {
  const auto factor = [](std::string_view name, Normalize normalize) {
    return normalized_form(std::string(name), normalize).scale;
  };
  using enum Normalize;
  EXPECT_NEAR(factor("selu", second_moment), 1, 1e-14);
  EXPECT_NEAR(factor("relu", second_moment), std::sqrt(2), 1e-14);
  EXPECT_NEAR(factor("relu", mean_and_variance), 1.712858550449663, 1e-12);
  EXPECT_NEAR(factor("gelu", second_moment), 1.533530441195535, 1e-12);
  EXPECT_NEAR(factor("silu", mean_and_variance), 1.787187222100442, 1e-12);
  EXPECT_NEAR(factor("sigmoid", mean_and_variance) / factor("sigmoid", second_moment), 2.6, 1e-3);
  EXPECT_EQ(normalized_form("tanh", mean_and_variance).shift, 0);
}

/// How many of its standard errors the mean of the values is from `expected`.
double errors_from(const torch::Tensor& values, double expected) {
  const Moments found = moments(values);
  const double error = std::sqrt(found.variance() / static_cast<double>(values.numel()));
  return std::abs(found.mean - expected) / error;
}

TEST(Normalize, AMillionDrawsHaveTheMomentsAskedFor) {
  const int64_t draws = 1'000'000;
  const torch::Tensor x = normal_numbers({draws, 2}, 5).to(torch::kFloat64);
  for (const std::string& name : kind_names<ActivationChoice>()) {
    const auto sample = [&](Normalize normalize) {
      const Activation form = normalized_form(name, normalize);
      return activate(form.gated ? x : x.slice(1, 0, 1), form);
    };
    EXPECT_LT(errors_from(sample(Normalize::second_moment).square(), 1), 5) << name;
    const torch::Tensor centered = sample(Normalize::mean_and_variance);
    EXPECT_LT(errors_from(centered, 0), 5) << name;
    EXPECT_LT(errors_from(centered.square(), 1), 5) << name;
  }
}

TEST(Normalize, GradientsAreThoseOfFiniteDifferencesInDouble) {
  const torch::Tensor x = normal_numbers({5, 3}, 1).to(torch::kFloat64);
  const torch::Tensor weight = normal_numbers({4, 3}, 2).to(torch::kFloat64);
  const torch::Tensor along = normal_numbers({5, 3}, 3).to(torch::kFloat64);
  for (const std::string& name : kind_names<ActivationChoice>()) {
    for (const Normalize normalize : {Normalize::second_moment, Normalize::mean_and_variance}) {
      const LinearOptions options{.activation = normalized_form(name, normalize)};
      const auto loss = [&](const torch::Tensor& at) {
        return linear(at, weight, {}, options).square().sum();
      };
      const torch::Tensor leaf = x.clone().requires_grad_();
      loss(leaf).backward();
      const double step = 1e-6;
      const double slope =
          (loss(x + step * along) - loss(x - step * along)).item<double>() / (2 * step);
      const double expected = (leaf.grad() * along).sum().item<double>();
      EXPECT_NEAR(slope, expected, 1e-7 * (1 + std::abs(expected))) << name;
    }
  }
}

}  // namespace
}  // namespace ballast
