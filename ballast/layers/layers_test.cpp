#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "ballast/base/error.h"
#include "ballast/base/moments.h"
#include "ballast/layers/attention.h"
#include "ballast/layers/embedding.h"
#include "ballast/layers/feed_forward.h"
#include "ballast/layers/positions.h"
#include "ballast/layers/relative_positions.h"

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

// The paper's: PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i + 1) the cosine, p from 0.
TEST(Positions, SinusoidsOfThePaperStandSideBySide) {
  const torch::Tensor table = sinusoids(0, 40, 6, PairLayout::interleaved, Frequencies::paper);
  for (int p = 0; p < 40; ++p) {
    for (int i = 0; i < 3; ++i) {
      const double angle = p / std::pow(10000.0, 2.0 * i / 6);
      EXPECT_NEAR(table[p][2 * i].item<double>(), std::sin(angle), 1e-6);
      EXPECT_NEAR(table[p][2 * i + 1].item<double>(), std::cos(angle), 1e-6);
    }
  }
}

TEST(Positions, BothLayoutsHoldTheSameSinusoids) {
  const torch::Tensor halves = sinusoids(3, 9, 8);
  const torch::Tensor pairs = sinusoids(3, 9, 8, PairLayout::interleaved);
  EXPECT_TRUE(torch::equal(halves.view({9, 2, 4}).transpose(1, 2).reshape({9, 8}), pairs));
}

TEST(Positions, ASequenceLongerThanALearnedTableIsRefused) {
  Positions positions(LearnedPositions{.max_length = 4}.form(), 8);
  const torch::Tensor x = torch::zeros({5, 8});
  EXPECT_THROW(positions.added_to(x, torch::arange(5), 5), DataError);
  EXPECT_EQ(positions.added_to(x.slice(0, 0, 4), torch::arange(4), 4).size(0), 4);
}

Segments one_sequence(int64_t length) { return Segments::packed(std::array{length}); }

/// Rows of two heads, all alike, as columns.
Columns same_rows(int64_t count, uint64_t seed) {
  torch::manual_seed(static_cast<int64_t>(seed));
  return torch::randn({1, 16}).expand({count, 16}).contiguous();
}

TEST(RelativePositions, ATurnedProductDependsOnTheDistanceAlone) {
  for (const PairLayout layout : {PairLayout::halves, PairLayout::interleaved}) {
    const RelativePositions rotary(RotaryPositions{.layout = layout}.form(), 2, 8, true);
    const RelativePlaces places = rotary.of(one_sequence(9), torch::kFloat32);
    const Columns q = turned(same_rows(9, 1), places), k = turned(same_rows(9, 2), places);
    const torch::Tensor products = torch::mm(q.rows, k.rows.t());
    for (int64_t distance = 0; distance < 4; ++distance) {
      const torch::Tensor diagonal = products.diagonal(-distance);
      EXPECT_LT((diagonal - diagonal[0]).abs().max().item<double>(), 1e-4);
    }
    EXPECT_GT((products[0][0] - products[3][0]).abs().item<double>(), 1e-3);
  }
}

std::vector<int64_t> lengths(std::initializer_list<int64_t> each) { return each; }

// The paper's equation: the pair (2i, 2i + 1) as a complex number times e^(i p base^(-2 i / K)).
TEST(RelativePositions, InterleavedPairsAreTurnedAsComplexNumbers) {
  const RelativePositions rotary(RotaryPositions{.layout = PairLayout::interleaved}.form(), 1, 4,
                                 true);
  const torch::Tensor row = torch::tensor({{1.0F, 2.0F, 3.0F, 4.0F}});
  const torch::Tensor result = turned(row, rotary.of_last(lengths({6}), torch::kFloat32)).rows;
  const std::complex<double> first = std::complex(1.0, 2.0) * std::polar(1.0, 5.0);
  const std::complex<double> second = std::complex(3.0, 4.0) * std::polar(1.0, 0.05);
  const double expected[] = {first.real(), first.imag(), second.real(), second.imag()};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(result[0][i].item<double>(), expected[i], 1e-6);
}

TEST(RelativePositions, SlopesAreAlibis) {
  const std::vector<double> eight = alibi_slopes(8), twelve = alibi_slopes(12);
  EXPECT_DOUBLE_EQ(eight.front(), 0.5);
  EXPECT_DOUBLE_EQ(eight.back(), 1.0 / 256);
  ASSERT_EQ(twelve.size(), 12U);
  EXPECT_DOUBLE_EQ(twelve[8], std::exp2(-0.5));
  EXPECT_DOUBLE_EQ(twelve[11], std::exp2(-3.5));
  const RelativePositions alibi(AlibiPositions{}.form(), 8, 4, true);
  const torch::Tensor bias = alibi.of(one_sequence(3), torch::kFloat32).bias;
  EXPECT_EQ(bias.sizes(), (std::vector<int64_t>{8, 5}));
  EXPECT_DOUBLE_EQ(bias[0][0].item<double>(), -1.0);
  EXPECT_DOUBLE_EQ(bias[0][2].item<double>(), 0.0);
  EXPECT_TRUE(torch::equal(alibi.of_last(lengths({3}), torch::kFloat32).bias, bias.slice(1, 0, 3)));
}

// Values of transformers' T5Attention._relative_position_bucket, 32 buckets up to 128.
TEST(RelativePositions, BucketsAreT5s) {
  const std::vector<int64_t> distances{-200, -128, -127, -64, -33, -16, -12, -9,  -8,
                                       -7,   -1,   0,    1,   7,   11,  32,  100, 200};
  const std::vector<int64_t> both{15, 15, 15, 14, 12, 10, 9, 8, 8, 7, 1, 0, 17, 23, 24, 28, 31, 31};
  const std::vector<int64_t> before{31, 31, 31, 26, 21, 16, 12, 9, 8, 7, 1, 0, 0, 0, 0, 0, 0, 0};
  for (const bool causal : {false, true}) {
    RelativePositions positions(BucketPositions{}.form(), 1, 4, causal);
    positions.table.detach().copy_(torch::arange(32).view({1, 32}));
    const torch::Tensor bias = positions.of(one_sequence(201), torch::kFloat32).bias;
    for (size_t i = 0; i < distances.size(); ++i) {
      EXPECT_EQ(bias[0][200 + distances[i]].item<double>(),
                static_cast<double>((causal ? before : both)[i]))
          << distances[i];
    }
  }
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
  FeedForward layer({.d_model = 6, .d_ff = 5, .activation = {Elementwise::silu, true}});
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
    lineage.extend(rows.size(0));
  };
  for (int t = 0; t < 40; ++t) append(torch::tensor({{t + 0.0f}, {t + 100.0f}}));
  lineage.select(torch::tensor({1, 1, 0}, torch::kInt64));
  append(torch::tensor({{7.0f}, {8.0f}, {9.0f}}));
  ASSERT_EQ(cache.size(), 83);
  const torch::Tensor places = lineage.rows(torch::kCPU);
  ASSERT_EQ(places.sizes(), (std::vector<int64_t>{3, 41}));
  const torch::Tensor key = cache.packed().key.rows.flatten().index_select(0, places.flatten());
  const torch::Tensor seen = key.view({3, 41});
  const torch::Tensor steps = torch::arange(40, torch::kFloat32);
  EXPECT_TRUE(torch::equal(seen[0].slice(0, 0, 40), steps + 100));
  EXPECT_TRUE(torch::equal(seen[1].slice(0, 0, 40), steps + 100));
  EXPECT_TRUE(torch::equal(seen[2].slice(0, 0, 40), steps));
  EXPECT_TRUE(torch::equal(seen.select(1, 40), torch::tensor({7.0f, 8.0f, 9.0f})));
  const torch::Tensor value = cache.packed().value.rows.flatten().index_select(0, places.flatten());
  EXPECT_TRUE(torch::equal(value, key * 2));
}

}  // namespace
}  // namespace ballast
