#include <gtest/gtest.h>

#include <cmath>

#include "ballast/base/error.h"
#include "ballast/base/moments.h"
#include "ballast/layers/attention.h"
#include "ballast/layers/embedding.h"
#include "ballast/layers/feed_forward.h"
#include "ballast/layers/positions.h"

namespace ballast {
namespace {

TEST(Positions, SinusoidsAreAllSinesThenAllCosines) {
  const torch::Tensor table = sinusoids(1, 3, 8);
  EXPECT_NEAR(table[1][0].item<double>(), std::sin(2.0), 1e-6);
  EXPECT_NEAR(table[1][4].item<double>(), std::cos(2.0), 1e-6);
  // The last frequency is 1/10000, reached at i = d/2 - 1.
  EXPECT_NEAR(table[2][3].item<double>(), std::sin(3e-4), 1e-9);
  EXPECT_NEAR(moments(sinusoids(1, 200, 64)).second, 0.5, 1e-6);
}

TEST(Positions, ASequenceLongerThanALearnedTableIsRefused) {
  Positions positions(LearnedPositions{.max_length = 4}, 8);
  EXPECT_THROW(positions.forward(torch::arange(5), 5), DataError);
  EXPECT_EQ(positions.forward(torch::arange(4), 4).size(0), 4);
}

TEST(Embedding, ItsFactorIsSqrtDUntilAParameterisationSaysOtherwise) {
  Embedding embedding(5, 16, Role::target_embedding);
  embedding.weight.detach().fill_(0.25);
  EXPECT_TRUE(torch::equal(embedding.forward(torch::tensor({1, 3})), torch::ones({2, 16})));
}

// C21: without 1/sqrt(K) the logits of unit queries and keys have std sqrt(K) = 8 at K = 64.
TEST(Attention, C21LogitsOfUnitQueriesAndKeysHaveStdOneOnlyWithTheScale) {
  torch::manual_seed(3);
  const torch::Tensor q = torch::randn({2000, 64}), k = torch::randn({2000, 64});
  const torch::Tensor products = (q * k).sum(1);
  EXPECT_NEAR(std::sqrt(moments(products).variance()), 8, 0.5);
  EXPECT_NEAR(std::sqrt(moments(products / 8).variance()), 1, 0.06);
}

/// Two layers of 7 columns, 5 and 3 wide.
std::vector<std::shared_ptr<Linear>> pair_of_layers() {
  std::vector<std::shared_ptr<Linear>> layers{std::make_shared<Linear>(LinearShape{7, 5}),
                                              std::make_shared<Linear>(LinearShape{7, 3})};
  const torch::NoGradGuard no_grad;
  for (const auto& layer : layers) {
    for (const torch::Tensor& each : layer->parameters()) each.copy_(torch::randn(each.sizes()));
  }
  return layers;
}

TEST(Joined, IsWhatTheLayersGiveOneByOneWithTheirGradients) {
  torch::manual_seed(5);
  for (const double second_multiplier : {1.0, 0.5}) {
    const auto layers = pair_of_layers();
    layers[1]->multiplier = second_multiplier;
    const torch::Tensor x = torch::randn({4, 7}), weighting = torch::randn({4, 8});
    const auto gradients = [&](bool at_once) {
      const torch::Tensor leaf = x.clone().requires_grad_();
      const torch::Tensor y =
          at_once ? joined(layers, leaf)
                  : torch::cat({layers[0]->forward(leaf), layers[1]->forward(leaf)}, 1);
      (y * weighting).sum().backward();
      std::vector<torch::Tensor> found{y.detach(), leaf.grad()};
      for (const auto& layer : layers) {
        for (torch::Tensor& each : layer->parameters()) {
          found.push_back(each.grad());
          each.mutable_grad().reset();
        }
      }
      return found;
    };
    const auto together = gradients(true), apart = gradients(false);
    for (size_t i = 0; i < together.size(); ++i) {
      EXPECT_TRUE(torch::allclose(together[i], apart[i], 1e-5, 1e-6))
          << second_multiplier << ' ' << i;
    }
  }
}

TEST(Joined, RoundsInBfloat16WhatTheLayersRound) {
  torch::manual_seed(6);
  const auto layers = pair_of_layers();
  for (const auto& layer : layers) layer->context().precision = Precision::bf16;
  const torch::Tensor x = torch::randn({4, 7});
  EXPECT_TRUE(torch::allclose(joined(layers, x),
                              torch::cat({layers[0]->forward(x), layers[1]->forward(x)}, 1), 1e-5,
                              1e-6));
}

TEST(FeedForward, AGatedPairIsOneWeightOfTwoMatricesWithTheFansOfEach) {
  const torch::NoGradGuard no_grad;
  FeedForward layer({.d_model = 6, .d_ff = 5, .activation = Activation::swiglu});
  for (const torch::Tensor& each : layer.parameters()) each.copy_(torch::randn(each.sizes()));
  EXPECT_EQ(layer.in->weight.sizes(), (std::vector<int64_t>{10, 6}));
  EXPECT_EQ(layer.in->describe()[0].facts.fan_out, 5);
  const torch::Tensor x = torch::randn({3, 6});
  const torch::Tensor rows = layer.in->forward(x);
  const torch::Tensor pair = torch::silu(rows.slice(1, 0, 5)) * rows.slice(1, 5, 10);
  EXPECT_TRUE(torch::allclose(layer.forward(x), layer.out->forward(pair), 1e-5, 1e-6));
}

TEST(KeyValueCache, KeepsWhatWasAppendedThroughGrowthAndSelection) {
  KeyValueCache cache;
  Lineage lineage;
  const auto append = [&](const torch::Tensor& rows) {
    cache.append({rows, rows * 2});
    lineage.extend(rows.size(0), torch::kCPU);
  };
  for (int t = 0; t < 40; ++t) append(torch::tensor({{t + 0.0f}, {t + 100.0f}}));
  lineage.select(torch::tensor({1, 1, 0}, torch::kInt64));
  append(torch::tensor({{7.0f}, {8.0f}, {9.0f}}));
  ASSERT_EQ(cache.size(), 83);
  ASSERT_EQ(lineage.rows().sizes(), (std::vector<int64_t>{3, 41}));
  const torch::Tensor key =
      cache.packed().key.rows.flatten().index_select(0, lineage.rows().flatten());
  const torch::Tensor seen = key.view({3, 41});
  const torch::Tensor steps = torch::arange(40, torch::kFloat32);
  EXPECT_TRUE(torch::equal(seen[0].slice(0, 0, 40), steps + 100));
  EXPECT_TRUE(torch::equal(seen[1].slice(0, 0, 40), steps + 100));
  EXPECT_TRUE(torch::equal(seen[2].slice(0, 0, 40), steps));
  EXPECT_TRUE(torch::equal(seen.select(1, 40), torch::tensor({7.0f, 8.0f, 9.0f})));
  const torch::Tensor value =
      cache.packed().value.rows.flatten().index_select(0, lineage.rows().flatten());
  EXPECT_TRUE(torch::equal(value, key * 2));
}

}  // namespace
}  // namespace ballast
