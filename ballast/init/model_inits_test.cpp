#include "ballast/init/model_inits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/base/moments.h"
#include "ballast/init/init.h"

namespace ballast {
namespace {

/// A matrix of a language model with 12 layers, width 512, heads of 64, d_ff 2048.
ParameterFacts facts_of(Role role) {
  ParameterFacts facts{.role = role, .fan_in = 512, .fan_out = 512, .head_width = 64};
  if (role == Role::feed_forward_in) facts.fan_out = 2048;
  if (role == Role::feed_forward_out) facts.fan_in = 2048;
  facts.site = {.stack = Stack::decoder, .count = 24, .decoder_layers = 12, .d_model = 512};
  facts.model = {.decoder_layers = 12, .d_model = 512};
  return facts;
}

double std_of(const InitChoice& choice, Role role) { return draw_of(choice, facts_of(role))->std; }

TEST(T5Init, HasThePublishedDeviations) {
  EXPECT_NEAR(std_of(T5Init{}, Role::query), 1 / std::sqrt(512.0 * 64), 1e-15);
  EXPECT_NEAR(std_of(T5Init{}, Role::key), 0.044194173824159216, 1e-15);
  EXPECT_NEAR(std_of(T5Init{}, Role::value), 0.044194173824159216, 1e-15);
  EXPECT_NEAR(std_of(T5Init{}, Role::attention_output), 0.044194173824159216, 1e-15);
  EXPECT_NEAR(std_of(T5Init{}, Role::feed_forward_in), 0.044194173824159216, 1e-15);
  EXPECT_NEAR(std_of(T5Init{}, Role::feed_forward_out), 0.022097086912079608, 1e-15);
  EXPECT_EQ(std_of(T5Init{}, Role::target_embedding), 1);
  EXPECT_NEAR(std_of(T5Init{}, Role::position_bias), 0.044194173824159216, 1e-15);
  EXPECT_FALSE(draw_of(T5Init{}, facts_of(Role::bias)));
}

TEST(T5Init, MeshCutsTheFeedForwardLayersAlone) {
  const T5Init mesh{.truncation = Truncation::uncorrected};
  EXPECT_NEAR(std::pow(std_of(mesh, Role::feed_forward_in), 2) * 512, 0.7737413035499232, 1e-12);
  EXPECT_EQ(std_of(mesh, Role::value), std_of(T5Init{}, Role::value));
}

// Queries and keys of N(0, 1) rows; the logits of each head are of variance 1 without 1/sqrt(K).
TEST(T5Init, LogitsHaveVarianceOneWithoutBeingDivided) {
  for (const T5Init& rule : {T5Init{}, T5Init{.shared_by_key = true}}) {
    const auto projected = [&](Role role, uint64_t key) {
      const torch::Tensor rows = drawn({Distribution::normal, 1}, {256, 512}, key);
      const torch::Tensor w = drawn(*draw_of(rule, facts_of(role)), {512, 512}, key + 1);
      return rows.matmul(w.t()).view({256, 8, 64}).transpose(0, 1);
    };
    const torch::Tensor logits =
        projected(Role::query, 1).matmul(projected(Role::key, 3).transpose(1, 2));
    EXPECT_NEAR(moments(logits).variance(), 1, 0.05);
  }
}

TEST(BertInit, TensorFlowsCutLeaves0175925) {
  for (const Role role : {Role::query, Role::feed_forward_out, Role::target_embedding,
                          Role::position_embedding, Role::output}) {
    EXPECT_NEAR(std_of(BertInit{}, role), 0.0175925132206848, 1e-15);
    EXPECT_EQ(std_of(BertInit{.truncation = Truncation::none}, role), 0.02);
  }
  const torch::Tensor values = drawn(BertInit{}.matrix({}), {1000, 1000}, 1);
  // The standard error of a std is at most 1/sqrt(2 n) of it, less for a truncated normal.
  EXPECT_NEAR(std::sqrt(moments(values).variance()), 0.0175925, 5 * 0.0176 * std::sqrt(0.5e-6));
  EXPECT_LE(values.abs().max().item<double>(), 0.04);
}

TEST(Gpt2Init, ThePaperDividesTheEndsOfBranchesAndOpenAisCodeDoesNot) {
  EXPECT_NEAR(std_of(Gpt2Init{}, Role::attention_output), 0.004082482904638631, 1e-15);
  EXPECT_NEAR(std_of(Gpt2Init{}, Role::feed_forward_out), 0.004082482904638631, 1e-15);
  EXPECT_EQ(std_of(Gpt2Init{}, Role::feed_forward_in), 0.02);
  EXPECT_EQ(std_of(Gpt2Init{}, Role::target_embedding), 0.02);
  EXPECT_EQ(std_of(Gpt2Init{}, Role::position_embedding), 0.01);
  EXPECT_EQ(std_of(Gpt2Init{.scales_branches = false}, Role::attention_output), 0.02);
}

TEST(MegatronInit, DividesTheEndsOfBranchesByTheRootOfTheirNumber) {
  EXPECT_NEAR(std_of(MegatronInit{.sigma = 0.01}, Role::feed_forward_out), 0.01 / std::sqrt(24.0),
              1e-15);
  EXPECT_EQ(std_of(MegatronInit{.sigma = 0.01}, Role::query), 0.01);
  EXPECT_EQ(std_of(MegatronInit{.sigma = 0.01}, Role::position_embedding), 0.01);
}

TEST(SmallInit, IsGlorotOfAMatrixWithFourTimesAsManyRows) {
  EXPECT_NEAR(std_of(SmallInit{}, Role::value), 0.02795084971874737, 1e-15);
  EXPECT_NEAR(std_of(SmallInit{}, Role::value),
              std::sqrt(family_variance(Family::glorot, 512, 2048)), 1e-15);
  EXPECT_NEAR(std_of(SmallInit{}, Role::feed_forward_in), 0.02795084971874737, 1e-15);
  ParameterFacts narrow = facts_of(Role::feed_forward_in);
  narrow.fan_out = 1024;
  EXPECT_NEAR(SmallInit{}.matrix(narrow).std, std::sqrt(2 / 1536.0), 1e-15);
  EXPECT_NEAR(SmallInit{.everywhere = true}.matrix(narrow).std, 0.02795084971874737, 1e-15);
}

TEST(WangInit, DividesTheEndsOfBranchesByTheDepth) {
  EXPECT_NEAR(std_of(WangInit{}, Role::attention_output), 2 / (12 * std::sqrt(512.0)), 1e-15);
  EXPECT_NEAR(std_of(WangInit{}, Role::feed_forward_out), 0.007365695637359869, 1e-15);
  EXPECT_NEAR(std_of(WangInit{}, Role::feed_forward_in), 0.02795084971874737, 1e-15);
}

TEST(SmallInitEmbeddings, ChangesTablesAlone) {
  const SmallInitEmbeddings rule{.matrices = Orthogonal{}};
  const torch::Tensor table = drawn(*draw_of(rule, facts_of(Role::target_embedding)), {900, 90}, 1);
  EXPECT_LE(table.abs().max().item<double>(), 1e-4);
  EXPECT_GT(table.abs().max().item<double>(), 0.999e-4);
  const Draw positions = *draw_of(rule, facts_of(Role::position_embedding));
  EXPECT_TRUE(torch::equal(drawn(positions, {3, 4}, 1), torch::zeros({3, 4}, torch::kFloat64)));
  EXPECT_EQ(std_of(rule, Role::query), std_of(Orthogonal{}, Role::query));
  EXPECT_EQ(draw_of(rule, facts_of(Role::query))->distribution, Distribution::orthogonal);
}

}  // namespace
}  // namespace ballast
