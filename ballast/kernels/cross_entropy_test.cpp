#include "ballast/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include "ballast/base/error.h"
#include "ballast/kernels/bf16.h"
#include "ballast/kernels/comparison.h"

namespace ballast {
namespace {

constexpr double tolerance = 1e-5, bf16_tolerance = 2e-2;
using Version = CrossEntropy (*)(const CrossEntropyInputs&, const CrossEntropyOptions&);
constexpr std::array<Version, 2> versions{&cross_entropy, &cross_entropy_reference};

Kernel kernel(Version version, const torch::Tensor& targets, const CrossEntropyOptions& options,
              double multiplier = 1) {
  return [=](const auto& t) {
    return version({t[0], t[1], t[2], targets, multiplier}, options).loss;
  };
}

/// Of what is minimised, with a z-loss.
Kernel objective(Version version, const torch::Tensor& targets, const CrossEntropyOptions& options,
                 bool in_bf16 = false) {
  return [=](const auto& t) {
    const torch::Tensor narrow = in_bf16 ? rounded(t[1]) : torch::Tensor();
    return version({t[0], t[1], t[2], targets, 0.5, narrow}, options).objective;
  };
}

std::vector<torch::Tensor> inputs(int64_t rows, int64_t d, int64_t classes) {
  return {drawn({rows, d}, 1), drawn({classes, d}, 2), drawn({classes}, 3)};
}

/// Every fifth target is ignored.
torch::Tensor some_targets(int64_t rows, int64_t classes) {
  const torch::Tensor index = torch::arange(rows, torch::kInt64);
  return (index * 7).remainder(classes).masked_fill(index.remainder(5).eq(3), -1);
}

double error(const CrossEntropyOptions& options, int64_t rows, int64_t classes,
             double multiplier = 1) {
  const torch::Tensor targets = some_targets(rows, classes);
  return error_against_reference(kernel(cross_entropy, targets, options, multiplier),
                                 kernel(cross_entropy_reference, targets, options, multiplier),
                                 inputs(rows, 12, classes));
}

TEST(CrossEntropy, AgreesWithTheReferenceForBothConventionsOnEveryInstructionSet) {
  on_every_target([] {
    for (const Smoothing convention : {Smoothing::all_classes, Smoothing::other_classes}) {
      for (const double smoothing : {0.0, 0.1}) {
        for (const double multiplier : {1.0, 0.5}) {
          const CrossEntropyOptions options{smoothing, convention};
          EXPECT_LT(error(options, 1, 3, multiplier), tolerance);
          EXPECT_LT(error(options, 37, 1029, multiplier), tolerance);
        }
      }
    }
  });
}

TEST(CrossEntropy, AgreesOverSeveralChunksOfRows) { EXPECT_LT(error({0.1}, 2100, 50), tolerance); }

TEST(CrossEntropy, NeedsNoBias) {
  const torch::Tensor targets = some_targets(9, 20);
  std::vector<torch::Tensor> given = inputs(9, 6, 20);
  given[2] = torch::Tensor();
  EXPECT_LT(error_against_reference(kernel(cross_entropy, targets, {}),
                                    kernel(cross_entropy_reference, targets, {}), given),
            tolerance);
}

/// With operands rounded to bfloat16.
Kernel bf16_kernel(const torch::Tensor& targets, const CrossEntropyOptions& options,
                   double multiplier = 1) {
  return [=](const auto& t) {
    return cross_entropy({t[0], t[1], t[2], targets, multiplier, rounded(t[1])}, options).loss;
  };
}

TEST(CrossEntropy, WithBfloat16OperandsAgreesWithTheReferenceOnEveryInstructionSet) {
  on_every_target([] {
    for (const Smoothing convention : {Smoothing::all_classes, Smoothing::other_classes}) {
      for (const auto& [rows, classes] : {std::array{0, 3}, {1, 3}, {37, 1029}, {2100, 50}}) {
        for (const bool has_bias : {true, false}) {
          const torch::Tensor targets = some_targets(rows, classes);
          const CrossEntropyOptions options{0.1, convention};
          const double multiplier = has_bias ? 1.0 : 0.5;
          std::vector<torch::Tensor> given = inputs(rows, 12, classes);
          if (!has_bias) given[2] = torch::Tensor();
          EXPECT_LT(error_against_reference(
                        bf16_kernel(targets, options, multiplier),
                        kernel(cross_entropy_reference, targets, options, multiplier), given),
                    bf16_tolerance)
              << rows << ' ' << classes;
        }
      }
    }
  });
}

TEST(CrossEntropy, WithBfloat16OperandsRepeatsBitForBit) {
  EXPECT_TRUE(
      repeats_bit_for_bit(bf16_kernel(some_targets(1500, 300), {0.1}), inputs(1500, 16, 300)));
}

TEST(CrossEntropy, ScalesItsGradientsByTheIncomingOne) {
  const torch::Tensor targets = some_targets(9, 20);
  const auto third = [&](Version version) -> Kernel {
    return [=](const auto& t) { return version({t[0], t[1], t[2], targets}, {}).loss / 3; };
  };
  EXPECT_LT(error_against_reference(third(cross_entropy), third(cross_entropy_reference),
                                    inputs(9, 6, 20)),
            tolerance);
}

TEST(CrossEntropy, RepeatsBitForBit) {
  EXPECT_TRUE(repeats_bit_for_bit(kernel(cross_entropy, some_targets(1500, 300), {0.1}),
                                  inputs(1500, 16, 300)));
}

TEST(CrossEntropyReference, HasTheGradientsOfFiniteDifferences) {
  for (const Smoothing convention : {Smoothing::all_classes, Smoothing::other_classes}) {
    const Kernel f = kernel(cross_entropy_reference, some_targets(7, 5), {0.1, convention}, 0.5);
    EXPECT_LT(finite_difference_error(f, inputs(7, 3, 5)), 1e-6);
  }
}

TEST(CrossEntropy, ZLossAgreesWithTheReferenceInChunksOnEveryInstructionSet) {
  on_every_target([] {
    const CrossEntropyOptions options{.smoothing = 0.1, .z_loss = 0.02};
    for (const auto& [rows, classes] : {std::array{1, 3}, {37, 1029}, {2100, 50}}) {
      const torch::Tensor targets = some_targets(rows, classes);
      const Kernel reference = objective(cross_entropy_reference, targets, options);
      const std::vector<torch::Tensor> given = inputs(rows, 12, classes);
      EXPECT_LT(
          error_against_reference(objective(cross_entropy, targets, options), reference, given),
          tolerance);
      EXPECT_LT(error_against_reference(objective(cross_entropy, targets, options, true), reference,
                                        given),
                bf16_tolerance);
    }
  });
}

TEST(CrossEntropyReference, ZLossHasTheGradientsOfFiniteDifferences) {
  const Kernel f =
      objective(cross_entropy_reference, some_targets(7, 5), {.smoothing = 0.1, .z_loss = 0.3});
  EXPECT_LT(finite_difference_error(f, inputs(7, 3, 5)), 1e-6);
}

/// Logits 1, 2, 3 as one hidden unit of 1.
CrossEntropyInputs one_two_three(const torch::Tensor& targets) {
  return {torch::ones({targets.size(0), 1}),
          torch::tensor({1.0F, 2.0F, 3.0F}).view({3, 1}),
          {},
          targets};
}

TEST(CrossEntropy, C29ConventionsOfSmoothingHaveTheirOwnValues) {
  on_every_target([] {
    const torch::Tensor targets = torch::tensor({2, -1, 2, -100}, torch::kInt64);
    for (const Version version : versions) {
      const auto loss = [&](double smoothing, Smoothing convention) {
        return version(one_two_three(targets), {smoothing, convention}).loss.item<double>() / 2;
      };
      EXPECT_NEAR(loss(0, Smoothing::all_classes), 0.407606, 1e-6);
      EXPECT_NEAR(loss(0.2, Smoothing::all_classes), 0.607606, 1e-6);
      EXPECT_NEAR(loss(0.2, Smoothing::other_classes), 0.707606, 1e-6);
      const CrossEntropy all = version(one_two_three(targets), {0.2, Smoothing::all_classes});
      EXPECT_EQ(all.tokens, 2);
      EXPECT_NEAR(all.nll.item<double>(), 2 * 0.407606, 1e-6);
      EXPECT_FALSE(all.nll.requires_grad());
    }
  });
}

// log Z = ln(e + e^2 + e^3) = 3.4076060, its square 11.6117784.
TEST(CrossEntropy, ZLossIsInTheObjectiveAndNotInTheLoss) {
  const torch::Tensor targets = torch::tensor({2, -1, 2}, torch::kInt64);
  for (const Version version : versions) {
    const CrossEntropy with = version(one_two_three(targets), {.smoothing = 0.2, .z_loss = 0.5});
    const CrossEntropy without = version(one_two_three(targets), {.smoothing = 0.2});
    EXPECT_EQ(with.loss.item<double>(), without.loss.item<double>());
    EXPECT_EQ(with.nll.item<double>(), without.nll.item<double>());
    EXPECT_NEAR((with.objective - with.loss).item<double>(), 11.6117784, 1e-5);
    EXPECT_TRUE(without.objective.is_same(without.loss));
  }
}

TEST(CrossEntropy, C30BatchWithoutTargetsHasNoLossNoGradientAndNoTokens) {
  const torch::Tensor targets = torch::full({4}, -1, torch::kInt64);
  for (const Version version : versions) {
    const auto all = with_gradients(kernel(version, targets, {0.1}), inputs(4, 3, 5));
    for (const torch::Tensor& t : all) EXPECT_TRUE(t.equal(torch::zeros_like(t)));
    EXPECT_EQ(version(one_two_three(targets), {}).tokens, 0);
  }
}

TEST(CrossEntropy, StaysFiniteForLogitsThatExponentialsOverflowOn) {
  const CrossEntropyInputs huge{torch::full({1, 1}, 1000.0F),
                                torch::tensor({1.0F, 2.0F, 3.0F}).view({3, 1}),
                                {},
                                torch::tensor({1}, torch::kInt64)};
  EXPECT_NEAR(cross_entropy(huge, {}).loss.item<double>(), 1000, 1e-3);
}

TEST(CrossEntropy, RefusesTargetsBeyondTheClasses) {
  for (const Version version : versions) {
    EXPECT_THROW(version(one_two_three(torch::tensor({3}, torch::kInt64)), {}), DataError);
  }
}

TEST(TargetLogProbabilities, AreThoseOfTheTargetsAndZeroWhereIgnored) {
  const torch::Tensor targets = torch::tensor({0, -1, 2}, torch::kInt64);
  const torch::Tensor y = target_log_probabilities(one_two_three(targets));
  const torch::Tensor expected = torch::tensor({-2.407606F, 0.0F, -0.407606F});
  EXPECT_LT((y - expected).abs().max().item<double>(), 1e-6);
}

TEST(TargetLogProbabilities, OfBfloat16OperandsThatHoldTheirValuesAreTheSame) {
  CrossEntropyInputs inputs = one_two_three(torch::tensor({0, -1, 2}, torch::kInt64));
  const torch::Tensor expected = target_log_probabilities(inputs);
  inputs.bf16_weight = rounded(inputs.weight);
  EXPECT_TRUE(target_log_probabilities(inputs).equal(expected));
}

}  // namespace
}  // namespace ballast
