#include "ballast/init/init.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/base/moments.h"

namespace ballast {
namespace {

constexpr double standard_errors = 4;

/// Checks the std of a million draws; the standard error of a variance is at most sqrt(2/n) of it.
void expect_std(const Draw& draw, double std) {
  const Moments found = moments(drawn(draw, {1000, 1000}, 7));
  EXPECT_NEAR(found.variance() / (std * std), 1, standard_errors * std::sqrt(2e-6));
  EXPECT_NEAR(found.mean, draw.mean, standard_errors * std / 1000);
}

TEST(Init, EveryDistributionHasTheStdAskedFor) {
  for (const auto distribution :
       {Distribution::normal, Distribution::uniform, Distribution::truncated_normal}) {
    expect_std({distribution, 0.02}, 0.02);
    expect_std({distribution, 3.0, 1.0}, 3.0);
  }
}

TEST(Init, C15ATruncatedNormalIsWidenedToTheStdAskedFor) {
  const torch::Tensor values = drawn({Distribution::truncated_normal, 1.0}, {1000, 1000}, 3);
  EXPECT_NEAR(std::sqrt(moments(values).variance()), 1.0, 3e-3);
  EXPECT_LE(values.abs().max().item<double>(), 2 * 1.1368472343 + 1e-9);
}

TEST(Init, C16ASmallStdIsCutAtMultiplesOfItselfNotAtAbsoluteBounds) {
  const torch::Tensor values = drawn({Distribution::truncated_normal, 0.001}, {1000, 1000}, 5);
  EXPECT_LT(values.abs().max().item<double>(), 6e-3);
}

// The kept shares of the std are those of a table made with 40 digits.
TEST(Init, ACutAtAnyIntervalEndsThereAndIsCorrectedOrNot) {
  struct Cut {
    double at, kept;
  };
  for (const auto& [at, kept] : {Cut{1, 0.53956009375489697}, Cut{1.5, 0.74264689843932649},
                                 Cut{2, 0.87962566103423980}, Cut{3, 0.98657839255810862}}) {
    const Draw corrected = gaussian(0.02, Truncation::corrected, at);
    const Draw uncorrected = gaussian(0.02, Truncation::uncorrected, at);
    EXPECT_NEAR(uncorrected.std, 0.02 * kept, 1e-15);
    expect_std(corrected, 0.02);
    expect_std(uncorrected, 0.02 * kept);
    const auto largest = [](const Draw& draw) {
      return drawn(draw, {1000, 1000}, 3).abs().max().item<double>();
    };
    EXPECT_LE(largest(uncorrected), 0.02 * at * (1 + 1e-12));
    EXPECT_GT(largest(uncorrected), 0.02 * at * 0.99);
    EXPECT_LE(largest(corrected), 0.02 * at / kept * (1 + 1e-12));
  }
}

TEST(Init, AMirroredMatrixIsMadeOfABlockAndItsNegatives) {
  const Draw draw{.distribution = Distribution::normal, .std = 1, .mirror = Mirror::both};
  const torch::Tensor w = drawn(draw, {6, 4}, 1);
  const torch::Tensor block = w.slice(0, 0, 3).slice(1, 0, 2);
  EXPECT_TRUE(torch::equal(
      w, torch::cat({torch::cat({block, -block}, 1), torch::cat({-block, block}, 1)})));
  EXPECT_GT(block.abs().min().item<double>(), 0);
}

TEST(Init, EachOfStackedMatricesIsMirroredByItself) {
  const Draw draw{
      .distribution = Distribution::uniform, .std = 1, .stacked = 2, .mirror = Mirror::rows};
  const auto quarters = drawn(draw, {8, 3}, 1).chunk(4);
  EXPECT_TRUE(torch::equal(quarters[0], -quarters[1]));
  EXPECT_TRUE(torch::equal(quarters[2], -quarters[3]));
  EXPECT_FALSE(torch::equal(quarters[0], quarters[2]));
}

TEST(Init, AnOddMatrixIsNotMirrored) {
  const Draw draw{.distribution = Distribution::normal, .std = 1, .mirror = Mirror::rows};
  EXPECT_THROW(drawn(draw, {5, 4}, 1), RecipeError);
  EXPECT_EQ(refusal_of(draw, 4, 5), "");
  EXPECT_NE(refusal_of({.mirror = Mirror::columns}, 4, 5), "");
}

// Balduzzi et al. 2017: relu(A x) - relu(-A x) = A x, layer after layer.
TEST(Init, ADeepReluNetworkOfMirroredLayersIsLinear) {
  const auto layer = [](int64_t rows, int64_t columns, Mirror mirror, uint64_t key) {
    const Draw draw{.distribution = Distribution::orthogonal, .std = 0.25, .mirror = mirror};
    return drawn(draw, {rows, columns}, key);
  };
  std::vector<torch::Tensor> layers{layer(32, 16, Mirror::rows, 1)};
  for (uint64_t key = 2; key < 12; ++key) layers.push_back(layer(32, 32, Mirror::both, key));
  layers.push_back(layer(16, 32, Mirror::columns, 12));
  torch::Tensor x = drawn({Distribution::normal, 1}, {5, 16}, 99);
  torch::Tensor linear = x;
  for (size_t i = 0; i < layers.size(); ++i) {
    linear = linear.matmul(layers[i].slice(0, 0, 16).slice(1, 0, 16).t());
    x = x.matmul(layers[i].t());
    if (i + 1 < layers.size()) x = torch::relu(x);
  }
  EXPECT_TRUE(torch::allclose(x, linear, 1e-12, 1e-14));
  // Orthogonal blocks of std 1/sqrt(16): every length stays.
  EXPECT_TRUE(torch::allclose(x.norm(2, 1),
                              drawn({Distribution::normal, 1}, {5, 16}, 99).norm(2, 1), 1e-12, 0));
}

TEST(Init, C19OrthogonalMatricesAreOrthogonalWhateverTheirShape) {
  const auto check = [](int64_t rows, int64_t columns) {
    const double std = 1 / std::sqrt(static_cast<double>(std::max(rows, columns)));
    const torch::Tensor w = drawn({Distribution::orthogonal, std}, {rows, columns}, 1);
    const torch::Tensor gram = rows < columns ? w.matmul(w.t()) : w.t().matmul(w);
    EXPECT_LT((gram - torch::eye(gram.size(0), torch::kFloat64)).abs().max().item<double>(), 1e-12);
  };
  check(3, 5);
  check(5, 3);
  check(64, 64);
}

// The two halves of a gated pair lie below each other in one weight; each is a matrix of its own.
TEST(Init, EachHalfOfAGatedPairIsOrthogonalWithSingularValuesOfTheGain) {
  for (const auto& [d_ff, d] : {std::pair<int64_t, int64_t>{12, 5}, {5, 12}}) {
    const Draw draw =
        *draw_of(Orthogonal{.gain = 1.5},
                 {.role = Role::feed_forward_in, .fan_in = d, .fan_out = d_ff, .stacked = 2});
    const torch::Tensor both = drawn(draw, {2 * d_ff, d}, 3);
    for (const torch::Tensor& half : both.chunk(2)) {
      const torch::Tensor gram = d_ff < d ? half.matmul(half.t()) : half.t().matmul(half);
      const torch::Tensor wanted = 2.25 * torch::eye(gram.size(0), torch::kFloat64);
      EXPECT_LT((gram - wanted).abs().max().item<double>(), 1e-12);
    }
    EXPECT_FALSE(torch::equal(both.chunk(2)[0], both.chunk(2)[1]));
  }
}

TEST(Init, HaarOrthogonalMatricesHaveTraceZeroOnAverage) {
  double sum = 0;
  constexpr int draws = 2000;
  for (int key = 0; key < draws; ++key) {
    sum += drawn({Distribution::orthogonal, 0.5}, {4, 4}, key).trace().item<double>();
  }
  // The trace of a Haar matrix has variance 1.
  EXPECT_NEAR(sum / draws, 0, standard_errors / std::sqrt(draws));
}

TEST(Init, C13FairseqQueriesAreBoundedLikeTheStackedMatrix) {
  const auto bound = [](const InitChoice& choice) {
    const Draw draw = *draw_of(choice, {.role = Role::query, .fan_in = 512, .fan_out = 512});
    return draw.std * std::sqrt(3.0);
  };
  EXPECT_NEAR(bound(VarianceScaling<Family::glorot, Distribution::uniform>{}), 0.0765466, 1e-7);
  EXPECT_NEAR(bound(Fairseq{}), 0.0541266, 1e-7);
}

TEST(Init, ValuesDependOnTheKeyAndNothingElse) {
  const Draw draw{Distribution::normal, 1};
  const torch::Tensor once = drawn(draw, {30, 7}, 11);
  EXPECT_TRUE(torch::equal(once, drawn(draw, {30, 7}, 11)));
  EXPECT_FALSE(torch::equal(once, drawn(draw, {30, 7}, 12)));
}

}  // namespace
}  // namespace ballast
