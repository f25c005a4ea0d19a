#include "ballast/layers/attention.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "ballast/layers/relative_positions.h"
#include "ballast/layers/score_kinds.h"

namespace ballast {
namespace {

constexpr int64_t d = 24, heads = 6, groups = 2, d_head = d / heads;

AttentionLayerOptions grouped() {
  return {.d_model = d, .heads = heads, .key_value_heads = groups, .causal = true};
}

template <class Kind>
std::shared_ptr<Kind> drawn_layer(const AttentionLayerOptions& options) {
  const torch::NoGradGuard no_grad;
  auto layer = std::make_shared<Kind>(options);
  for (const torch::Tensor& each : layer->parameters()) each.copy_(torch::randn(each.sizes()) / 3);
  return layer;
}

/// The same attention with as many key and value heads as query heads: each repeated for all that
/// read it.
template <class Kind>
std::shared_ptr<Kind> repeated(const Kind& from, AttentionLayerOptions options) {
  const torch::NoGradGuard no_grad;
  options.key_value_heads = heads;
  auto layer = std::make_shared<Kind>(options);
  const auto copy = [](const Linear& to, const Linear& from, bool repeats) {
    for (const auto& [mine, theirs] :
         {std::pair(to.weight, from.weight), std::pair(to.bias, from.bias)}) {
      const torch::Tensor by_heads = theirs.view({-1, d_head, theirs.numel() / theirs.size(0)});
      mine.copy_((repeats ? by_heads.repeat_interleave(heads / groups, 0) : by_heads)
                     .reshape(mine.sizes()));
    }
  };
  copy(*layer->query, *from.query, false);
  copy(*layer->key, *from.key, true);
  copy(*layer->value, *from.value, true);
  copy(*layer->output, *from.output, false);
  return layer;
}

Segments two_sequences() { return Segments::packed(std::array<int64_t, 2>{3, 6}); }

RelativePlaces rotary(const Segments& segments) {
  return RelativePositions(RotaryPositions{}.form(), heads, d_head, true)
      .of(segments, torch::kFloat32);
}

bool close(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::allclose(a, b, 1e-5, 1e-6);
}

TEST(GroupedHeads, KeyAndValueMatricesHaveTheColumnsOfTheirHeads) {
  const auto layer = drawn_layer<SelfAttention>(grouped());
  for (const auto& each : {layer->key, layer->value}) {
    EXPECT_EQ(each->weight.sizes(), (std::vector<int64_t>{groups * d_head, d}));
    EXPECT_EQ(each->describe()[0].facts.fan_out, groups * d_head);
    EXPECT_EQ(each->describe()[0].facts.stacked, 1);
  }
  EXPECT_EQ(layer->query->weight.sizes(), (std::vector<int64_t>{d, d}));
}

TEST(GroupedHeads, AreFullAttentionWhoseKeysAndValuesAreRepeated) {
  torch::manual_seed(11);
  const Segments segments = two_sequences();
  const torch::Tensor x = torch::randn({9, d});
  for (const double soft_cap : {0.0, 1.5}) {
    for (const bool turns : {false, true}) {
      AttentionLayerOptions options = grouped();
      options.soft_cap = soft_cap;
      const auto layer = drawn_layer<SelfAttention>(options);
      const Surroundings around{.segments = segments,
                                .places = turns ? rotary(segments) : RelativePlaces()};
      EXPECT_TRUE(close(layer->forward(x, around), repeated(*layer, options)->forward(x, around)));
    }
  }
}

TEST(GroupedHeads, OfACrossAttentionAreRepeatedToo) {
  torch::manual_seed(12);
  const Segments readers = two_sequences(), read = Segments::packed(std::array<int64_t, 2>{4, 5});
  const Memory memory{torch::randn({9, d}), read};
  const torch::Tensor x = torch::randn({9, d});
  AttentionLayerOptions options = grouped();
  options.causal = false;
  const auto layer = drawn_layer<CrossAttention>(options);
  const Surroundings around{.segments = readers, .memory = &memory};
  EXPECT_TRUE(close(layer->forward(x, around), repeated(*layer, options)->forward(x, around)));
}

TEST(GroupedHeads, TheCacheHoldsTheirColumnsAndAStepGivesTheWhole) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(13);
  const auto layer = drawn_layer<SelfAttention>(grouped());
  const Segments segments = Segments::packed(std::array<int64_t, 1>{7});
  const torch::Tensor x = torch::randn({7, d});
  const torch::Tensor whole = layer->forward(x, {.segments = segments});
  BranchCache cache;
  Reading reading;
  for (int64_t t = 0; t < 7; ++t) {
    reading.lineage.extend(1);
    EXPECT_TRUE(close(layer->step(x.slice(0, t, t + 1), cache, reading), whole.slice(0, t, t + 1)));
  }
  const KeyValue kept = cache.rows.packed();
  EXPECT_EQ(kept.key.rows.sizes(), (std::vector<int64_t>{7, groups * d_head}));
  EXPECT_EQ(kept.value.rows.sizes(), (std::vector<int64_t>{7, groups * d_head}));
}

TEST(GroupedHeads, AsManyAsTheHeadsAreAttentionToTheBit) {
  torch::manual_seed(14);
  const Segments segments = two_sequences();
  const torch::Tensor x = torch::randn({9, d});
  const auto result = [&](std::optional<int64_t> key_value_heads) {
    AttentionLayerOptions options = grouped();
    options.key_value_heads = key_value_heads;
    torch::manual_seed(15);
    const auto layer = drawn_layer<SelfAttention>(options);
    layer->forward(x, {.segments = segments}).square().sum().backward();
    return std::pair(layer->forward(x, {.segments = segments}), layer->key->weight.grad());
  };
  const auto full = result(std::nullopt), all = result(heads);
  EXPECT_TRUE(full.first.equal(all.first));
  EXPECT_TRUE(full.second.equal(all.second));
}

/// T5 has W_q 1/sqrt(K) as large, and no factor of the logits.
TEST(Scores, AFactorOfTheLogitsIsOneOfTheQueries) {
  torch::manual_seed(16);
  const Segments segments = two_sequences();
  const torch::Tensor x = torch::randn({9, d});
  const double root = std::sqrt(static_cast<double>(d_head));
  const auto result = [&](std::optional<double> scale, double of_queries) {
    const torch::NoGradGuard no_grad;
    AttentionLayerOptions options = grouped();
    options.score_scale = scale;
    torch::manual_seed(17);
    const auto layer = drawn_layer<SelfAttention>(options);
    layer->query->weight.mul_(of_queries);
    layer->query->bias.mul_(of_queries);
    return layer->forward(x, {.segments = segments});
  };
  const torch::Tensor standard = result(std::nullopt, 1);
  EXPECT_TRUE(standard.equal(result(form_of(InverseSqrtScores{}, d_head).scale, 1)));
  EXPECT_TRUE(close(standard, result(form_of(UnscaledScores{}, d_head).scale, 1 / root)));
  EXPECT_TRUE(close(standard, result(form_of(InverseScores{}, d_head).scale, root)));
  EXPECT_FALSE(close(standard, result(form_of(UnscaledScores{}, d_head).scale, 1)));
}

/// Of a large cap nothing is seen; under a small one all visible keys weigh nearly the same.
TEST(SoftCap, GoesFromNothingToTheMeanOfTheValues) {
  const torch::NoGradGuard no_grad;
  const Segments segments = two_sequences();
  torch::manual_seed(18);
  const torch::Tensor x = torch::randn({9, d});
  const auto layer_with = [&](double soft_cap) {
    AttentionLayerOptions options = grouped();
    options.soft_cap = soft_cap;
    torch::manual_seed(19);
    return drawn_layer<SelfAttention>(options);
  };
  const torch::Tensor plain = layer_with(0)->forward(x, {.segments = segments});
  EXPECT_TRUE(close(layer_with(1e4)->forward(x, {.segments = segments}), plain));
  EXPECT_FALSE(close(layer_with(1)->forward(x, {.segments = segments}), plain));
  const auto flat = layer_with(1e-7);
  const torch::Tensor values = flat->value->forward(x.slice(0, 0, 3)).mean(0, true);
  const torch::Tensor by_heads =
      values.view({groups, d_head}).repeat_interleave(heads / groups, 0).view({1, d});
  EXPECT_TRUE(close(flat->forward(x, {.segments = segments}).slice(0, 2, 3),
                    flat->output->forward(by_heads)));
}

}  // namespace
}  // namespace ballast
