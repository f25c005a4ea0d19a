#include "ballast/residual/gate.h"

#include <gtest/gtest.h>

#include <limits>

namespace ballast {
namespace {

constexpr int64_t tokens = 5, d = 6;

std::vector<torch::Tensor> some_lanes(int64_t count) {
  std::vector<torch::Tensor> lanes;
  for (int64_t i = 0; i < count; ++i) lanes.push_back(torch::randn({tokens, d}));
  return lanes;
}

TEST(Gate, WithAMatrixOfZerosIsItsStartInEveryRow) {
  torch::manual_seed(1);
  const Gate gate{.inner = GateMap::tanh};
  const torch::Tensor start = torch::randn({3, 3});
  const torch::Tensor weights =
      gated(gate,
            {torch::zeros(gate_shape(gate, Grid(3, std::vector<double>(9)), 3, d)), torch::ones({}),
             start},
            some_lanes(3), 3);
  EXPECT_TRUE(torch::equal(weights, start.expand({tokens, 3, 3})));
}

// Zhu et al. 2024, arXiv:2409.19606: what lane j brings out is s tanh(norm(x_j) W).
TEST(Gate, OfSingleLanesIsColumnByColumnThatOfItsLane) {
  torch::manual_seed(2);
  const Gate gate{.inner = GateMap::tanh, .center = true};
  const auto lanes = some_lanes(2);
  const torch::Tensor matrix =
      torch::randn(gate_shape(gate, Grid(3, std::vector<double>(6)), 2, d));
  const torch::Tensor start = torch::randn({3, 2});
  const torch::Tensor weights = gated(gate, {matrix, torch::full({}, 0.5), start}, lanes, 3);
  for (int64_t j = 0; j < 2; ++j) {
    const torch::Tensor read = torch::layer_norm(lanes[j], {d});
    const torch::Tensor column = 0.5 * torch::mm(read, matrix.t()).tanh() + start.select(1, j);
    EXPECT_TRUE(torch::allclose(weights.select(2, j), column, 1e-4, 1e-4)) << j;
  }
}

TEST(Gate, OfAllLanesReadsThemEndToEnd) {
  torch::manual_seed(3);
  const Gate gate{.outer = GateMap::twice_sigmoid, .all_lanes = true};
  const auto lanes = some_lanes(2);
  const torch::Tensor matrix = torch::randn(gate_shape(gate, std::vector<double>(2), 2, d));
  const torch::Tensor start = torch::randn({2});
  const torch::Tensor weights = gated(gate, {matrix, torch::full({}, 0.1), start}, lanes, 1);
  const torch::Tensor all = torch::cat(lanes, 1);
  const torch::Tensor read = all / all.square().mean(1, true).sqrt();
  const torch::Tensor expected = 2 * (0.1 * torch::mm(read, matrix.t()) + start).sigmoid();
  EXPECT_TRUE(torch::allclose(weights.select(1, 0), expected, 1e-4, 1e-5));
}

TEST(Gate, ADoublyStochasticOneHasRowsAndColumnsThatSumToOne) {
  torch::manual_seed(4);
  const torch::Tensor mixed = doubly_stochastic(torch::rand({7, 4, 4}) + 0.05);
  EXPECT_LT((mixed.sum(2) - 1).abs().max().item<double>(), 1e-6);
  EXPECT_LT((mixed.sum(1) - 1).abs().max().item<double>(), 1e-4);
}

TEST(Gate, PermutationsHaveRowsAndColumnsThatSumToOneWithoutIterations) {
  torch::manual_seed(6);
  const Gate gate{.outer = GateMap::permutations, .all_lanes = true};
  const Grid start(std::vector<double>(24, 0));
  const torch::Tensor matrix = torch::randn(gate_shape(gate, start, 4, d));
  EXPECT_EQ(matrix.size(0), 24);
  const torch::Tensor mixed =
      gated(gate, {matrix, torch::ones({}), torch::randn({24})}, some_lanes(4), 1);
  ASSERT_EQ(mixed.sizes(), (std::vector<int64_t>{tokens, 4, 4}));
  EXPECT_LT((mixed.sum(2) - 1).abs().max().item<double>(), 1e-6);
  EXPECT_LT((mixed.sum(1) - 1).abs().max().item<double>(), 1e-6);
  EXPECT_GT(mixed.min().item<double>(), 0);
}

TEST(Gate, PermutationMatricesAreAllOfThemAndTheFirstChangesNothing) {
  const torch::Tensor all = permutation_matrices(3).view({-1, 3, 3});
  ASSERT_EQ(all.size(0), 6);
  EXPECT_TRUE(torch::equal(all[0], torch::eye(3)));
  EXPECT_TRUE(torch::equal(all.sum(0), torch::full({3, 3}, 2.0)));
}

// In a product of matrices whose rows and columns sum to 1 nothing grows, however many they are.
TEST(Gate, AProductOfAHundredMixturesOfPermutationsHasSpectralNormOne) {
  torch::manual_seed(7);
  torch::Tensor product = torch::eye(4, torch::kFloat64);
  const torch::Tensor all = permutation_matrices(4).to(torch::kFloat64);
  for (int i = 0; i < 100; ++i) {
    const torch::Tensor weights = torch::randn({1, 24}, torch::kFloat64).mul(4).softmax(1);
    product = weights.mm(all).view({4, 4}).mm(product);
  }
  const double largest = torch::linalg_svdvals(product).max().item<double>();
  EXPECT_NEAR(largest, 1, 1e-9);
}

TEST(Gate, WithoutAScaleItsMatrixActsAsItIs) {
  torch::manual_seed(8);
  const Gate gate{.outer = GateMap::softmax, .scale = 0};
  const auto lanes = some_lanes(3);
  const double never = -std::numeric_limits<double>::infinity();
  const torch::Tensor matrix = torch::randn({1, d});
  const torch::Tensor weights =
      gated(gate, {matrix, {}, torch::tensor({0.0, 0.0, never})}, lanes, 1);
  std::vector<torch::Tensor> logits;
  for (int i = 0; i < 2; ++i) {
    logits.push_back(torch::mv(lanes[i] / lanes[i].square().mean(1, true).sqrt(), matrix[0]));
  }
  const torch::Tensor expected = torch::stack(logits, 1).softmax(1);
  EXPECT_TRUE(torch::allclose(weights.select(1, 0).slice(1, 0, 2), expected, 1e-4, 1e-5));
  EXPECT_EQ(weights.select(2, 2).abs().max().item<double>(), 0);
}

TEST(Gate, MixesTheLanesOfEachRowByItsOwnWeights) {
  torch::manual_seed(5);
  const auto lanes = some_lanes(3);
  const torch::Tensor weights = torch::randn({tokens, 2, 3});
  const auto mixed = mixed_by_row(weights, lanes);
  ASSERT_EQ(mixed.size(), 2U);
  for (int64_t i = 0; i < 2; ++i) {
    torch::Tensor sum = torch::zeros({tokens, d});
    for (int64_t j = 0; j < 3; ++j) {
      sum = sum + weights.select(1, i).select(1, j).unsqueeze(1) * lanes[j];
    }
    EXPECT_TRUE(torch::allclose(mixed[i], sum, 1e-5, 1e-6)) << i;
  }
}

}  // namespace
}  // namespace ballast
