#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "ballast/diagnose/attention_sight.h"
#include "ballast/diagnose/sensitivity.h"
#include "ballast/diagnose/signal.h"

namespace ballast {
namespace {

TEST(SaturatedShare, OfAStandardNormalIsHalfForRelu) {
  EXPECT_NEAR(saturated_share({Elementwise::relu}), 0.5, 5e-3);
  EXPECT_NEAR(saturated_share({Elementwise::identity}), 0, 1e-12);
  // 1 - tanh^2 < 0.05 beyond atanh(sqrt(0.95)) = 2.1774; P(|x| > 2.1774) = 0.02945.
  EXPECT_NEAR(saturated_share({Elementwise::tanh}), 0.02945, 5e-4);
}

TEST(AttentionStatistics, OfOneHeadByHand) {
  // One query row that sees four keys, with logits 0, 1, 2, 3: deviation sqrt(5/4).
  const torch::Tensor q = torch::ones({4, 1}), k = torch::arange(4, torch::kFloat32).view({4, 1});
  const std::vector<int64_t> lengths{4};
  const Segments rows = Segments::packed(lengths);
  const AttentionStatistics seen = attention_statistics(q, k, rows, rows, {.causal = true});
  EXPECT_NEAR(seen.deviation, std::sqrt(1.25), 1e-12);
  EXPECT_EQ(seen.largest, 3);
  double z = 0, energy = 0;
  for (int i = 0; i < 4; ++i) z += std::exp(i), energy += i * std::exp(i);
  EXPECT_NEAR(seen.entropy, (std::log(z) - energy / z) / std::log(4.0), 1e-12);
}

TEST(AttentionStatistics, RowsThatSeeFewKeysSayNothing) {
  const std::vector<int64_t> lengths{3};
  const Segments rows = Segments::packed(lengths);
  const torch::Tensor x = torch::ones({3, 2});
  const AttentionStatistics seen = attention_statistics(x, x, rows, rows, {.causal = false});
  EXPECT_EQ(seen.deviation, 0);
  EXPECT_EQ(seen.entropy, 1);
}

TEST(FittedLine, ExplainsAllOfALineAndNothingOfASymmetricBend) {
  const std::vector<double> x{1, 2, 3, 4}, line{3, 5, 7, 9}, bend{1, 0, 0, 1};
  EXPECT_NEAR(fitted_line(x, line).slope, 2, 1e-12);
  EXPECT_NEAR(fitted_line(x, line).offset, 1, 1e-12);
  EXPECT_NEAR(fitted_line(x, line).r2, 1, 1e-12);
  EXPECT_NEAR(fitted_line(x, bend).r2, 0, 1e-12);
}

TEST(RunningSums, AddUp) {
  const std::vector<double> values{1, 2, 3};
  EXPECT_EQ(running_sums(values), (std::vector<double>{1, 3, 6}));
}

}  // namespace
}  // namespace ballast
