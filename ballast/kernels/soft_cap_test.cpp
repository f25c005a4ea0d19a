#include "ballast/kernels/soft_cap.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ballast/kernels/bf16.h"
#include "ballast/kernels/comparison.h"
#include "ballast/kernels/cross_entropy.h"

namespace ballast {
namespace {

constexpr double tolerance = 1e-5, bf16_tolerance = 2e-2;
using Version = CrossEntropy (*)(const CrossEntropyInputs&, const CrossEntropyOptions&);

struct Case {
  int64_t rows = 1, classes = 3;
  bool has_bias = true, in_bf16 = false;
  double multiplier = 1;
};

double error(const Case& each) {
  const torch::Tensor targets =
      (torch::arange(each.rows, torch::kInt64) * 7).remainder(each.classes);
  const auto kernel = [&](Version version) -> Kernel {
    return [=](const auto& t) {
      return version({t[0], t[1], t[2], targets, each.multiplier,
                      each.in_bf16 ? rounded(t[1]) : torch::Tensor(), 1.5},
                     {.smoothing = 0.1, .z_loss = 1e-2})
          .objective;
    };
  };
  std::vector<torch::Tensor> inputs{drawn({each.rows, 12}, 1), drawn({each.classes, 12}, 2),
                                    each.has_bias ? drawn({each.classes}, 3) : torch::Tensor()};
  return error_against_reference(kernel(cross_entropy), kernel(cross_entropy_reference), inputs);
}

TEST(SoftCap, OfTheLogitsOfALossAgreesWithTheReferenceOnEveryInstructionSet) {
  on_every_target([] {
    for (const double multiplier : {1.0, 0.5}) {
      for (const bool has_bias : {true, false}) {
        EXPECT_LT(error({37, 1029, has_bias, false, multiplier}), tolerance);
        EXPECT_LT(error({2100, 50, has_bias, false, multiplier}), tolerance);
        EXPECT_LT(error({37, 1029, has_bias, true, multiplier}), bf16_tolerance);
      }
    }
  });
}

// Logits 0 and c atanh(1/2) become 0 and c/2.
TEST(SoftCap, OfTheLogitsOfALossHasAValueByHand) {
  const double c = 3, logit = c * std::atanh(0.5);
  const CrossEntropyInputs inputs{.hidden = torch::ones({1, 1}),
                                  .weight = torch::tensor({{0.0}, {logit}}, torch::kFloat32),
                                  .targets = torch::tensor({1}, torch::kInt64),
                                  .soft_cap = c};
  const double expected = std::log1p(std::exp(-c / 2));
  for (const Version version : {&cross_entropy, &cross_entropy_reference}) {
    EXPECT_NEAR(version(inputs, {}).loss.item<double>(), expected, 1e-6);
  }
  EXPECT_NEAR(target_log_probabilities(inputs).item<double>(), -expected, 1e-6);
}

}  // namespace
}  // namespace ballast
