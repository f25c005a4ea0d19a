#include "ballast/residual/gate.h"

#include <gtest/gtest.h>

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
  const torch::Tensor weights = gated(
      gate, {torch::zeros(gate_shape(gate, 3, 3, d)), torch::ones({}), start}, some_lanes(3), 3);
  EXPECT_TRUE(torch::equal(weights, start.expand({tokens, 3, 3})));
}

// Zhu et al. 2024, arXiv:2409.19606: what lane j brings out is s tanh(norm(x_j) W).
TEST(Gate, OfSingleLanesIsColumnByColumnThatOfItsLane) {
  torch::manual_seed(2);
  const Gate gate{.inner = GateMap::tanh, .center = true};
  const auto lanes = some_lanes(2);
  const torch::Tensor matrix = torch::randn(gate_shape(gate, 3, 2, d));
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
  const torch::Tensor matrix = torch::randn(gate_shape(gate, 1, 2, d));
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
