#include "ballast/init/depth_inits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/init/init.h"

namespace ballast {
namespace {

constexpr int64_t d = 512, d_ff = 2048;

/// A matrix in layer `layer`, from 0, of a model with as many layers in both stacks.
ParameterFacts facts_of(Role role, Stack stack, int layers, int layer = 0) {
  ParameterFacts facts{.role = role, .fan_in = d, .fan_out = d};
  const bool feeds = role == Role::feed_forward_in || role == Role::feed_forward_out;
  if (role == Role::feed_forward_in) facts.fan_out = d_ff;
  if (role == Role::feed_forward_out) facts.fan_in = d_ff;
  const int cycle = stack == Stack::encoder ? 2 : 3;
  facts.site = {.stack = stack,
                .kind = feeds ? Sublayer::feed_forward : Sublayer::self_attention,
                .index = cycle * layer + (feeds ? cycle - 1 : 0),
                .count = cycle * layers,
                .layer = layer,
                .encoder_layers = layers,
                .decoder_layers = layers,
                .d_model = d};
  facts.model = {.encoder_layers = layers, .decoder_layers = layers, .d_model = d};
  return facts;
}

double std_of(const InitChoice& choice, const ParameterFacts& facts) {
  return draw_of(choice, facts)->std;
}

TEST(DsInit, FallsWithTheRootOfTheLayerAsInThePaperOrWithTheFourthRootAsInTheCode) {
  const double first = std_of(DsInit{}, facts_of(Role::value, Stack::encoder, 6));
  const ParameterFacts fourth = facts_of(Role::value, Stack::encoder, 6, 3);
  EXPECT_NEAR(first, std::sqrt(6 / 1024.0 / 3), 1e-15);
  EXPECT_NEAR(std_of(DsInit{}, fourth), first / 2, 1e-15);
  EXPECT_NEAR(std_of(DsInit{.reading = DsReading::code}, fourth), first / std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(std_of(DsInit{.alpha = 0.5}, fourth), first / 4, 1e-15);
  EXPECT_EQ(draw_of(DsInit{}, fourth)->distribution, Distribution::uniform);
}

// 6 + 6 layers have 2 * 6 + 3 * 6 = 30 branches.
TEST(FixupInit, EndsOfBranchesAreZeroAndTheOthersShrinkByTheNumberOfBranches) {
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    for (const Role end : {Role::attention_output, Role::feed_forward_out}) {
      EXPECT_TRUE(draw_of(FixupInit{}, facts_of(end, stack, 6))->is_constant());
    }
    const ParameterFacts in = facts_of(Role::feed_forward_in, stack, 6);
    EXPECT_NEAR(std_of(FixupInit{}, in) / std_of(Fairseq{}, in), 0.18257418583505536, 1e-15);
    const ParameterFacts query = facts_of(Role::query, stack, 6);
    EXPECT_NEAR(std_of(FixupInit{}, query) / std_of(Fairseq{}, query), 0.5673004449747446, 1e-15);
  }
  ParameterFacts lm = facts_of(Role::feed_forward_in, Stack::decoder, 12);
  lm.site->encoder_layers = 0;
  EXPECT_NEAR(std_of(FixupInit{}, lm) / std_of(Fairseq{}, lm), 1 / std::sqrt(24.0), 1e-15);
}

TEST(FixupInit, AnUntiedOutputIsZeroAndATableIsNot) {
  EXPECT_TRUE(draw_of(FixupInit{}, {.role = Role::output, .fan_in = d})->is_constant());
  EXPECT_GT(std_of(FixupInit{}, {.role = Role::target_embedding, .fan_in = d}), 0);
}

TEST(TFixupInit, HasThePublishedFactors) {
  struct Known {
    int layers;
    double encoder, decoder;
  };
  for (const Known& each :
       {Known{6, 0.4280918798, 0.3688939732}, Known{12, 0.3599809272, 0.3102016197},
        Known{18, 0.3252794870, 0.2802988051}}) {
    for (const Role role :
         {Role::value, Role::attention_output, Role::feed_forward_in, Role::feed_forward_out}) {
      const ParameterFacts encoder = facts_of(role, Stack::encoder, each.layers);
      const ParameterFacts decoder = facts_of(role, Stack::decoder, each.layers);
      const double glorot = std::sqrt(glorot_variance(encoder));
      EXPECT_NEAR(std_of(TFixupInit{}, encoder) / glorot, each.encoder, 1e-9);
      EXPECT_NEAR(std_of(TFixupInit{}, decoder) / glorot, each.decoder, 1e-9);
    }
  }
}

TEST(TFixupInit, LeavesQueriesAndKeysAndShrinksEmbeddings) {
  const ParameterFacts query = facts_of(Role::query, Stack::encoder, 6);
  EXPECT_NEAR(std_of(TFixupInit{}, query), std::sqrt(2 / 1024.0), 1e-15);
  EXPECT_NEAR(std_of(TFixupInit{.query_key_gain = std::sqrt(0.5)}, query), std_of(Fairseq{}, query),
              1e-15);
  ParameterFacts table{.role = Role::source_embedding, .fan_in = d};
  table.model = {.encoder_layers = 6, .decoder_layers = 18, .d_model = d};
  EXPECT_NEAR(std_of(TFixupInit{}, table) * std::sqrt(512.0), 0.3688939732, 1e-9);
  table.role = Role::target_embedding;
  EXPECT_NEAR(std_of(TFixupInit{}, table) * std::sqrt(512.0), 0.2802988051, 1e-9);
  table.role = Role::position_embedding;
  EXPECT_NEAR(std_of(TFixupInit{}, table) * std::sqrt(512.0), 1, 1e-12);
}

TEST(LookLinear, AFeedForwardLayerIsLinearAtTheStartForReluGeluAndSilu) {
  const torch::Tensor in = drawn(
      *draw_of(LookLinear{}, facts_of(Role::feed_forward_in, Stack::encoder, 6)), {d_ff, d}, 1);
  const torch::Tensor out = drawn(
      *draw_of(LookLinear{}, facts_of(Role::feed_forward_out, Stack::encoder, 6)), {d, d_ff}, 2);
  const torch::Tensor x = drawn({Distribution::normal, 1}, {7, d}, 3);
  const torch::Tensor a = in.slice(0, 0, d_ff / 2), b = out.slice(1, 0, d_ff / 2);
  const torch::Tensor linear = x.matmul(a.t()).matmul(b.t());
  const torch::Tensor h = x.matmul(in.t());
  for (const torch::Tensor& hidden : {torch::relu(h), torch::gelu(h), torch::silu(h)}) {
    EXPECT_TRUE(torch::allclose(hidden.matmul(out.t()), linear, 1e-10, 1e-12));
  }
  const ParameterFacts query = facts_of(Role::query, Stack::encoder, 6);
  EXPECT_EQ(std_of(LookLinear{}, query), std_of(Fairseq{}, query));
}

/// With lambda^2 = 1 - share and beta^2 = share, and dropout p.
ParameterFacts weighed(ParameterFacts facts, double share, double p) {
  facts.shortcut = std::sqrt(1 - share);
  facts.branch = std::sqrt(share);
  facts.model.dropout = p;
  facts.activation = {.value = 0.5, .slope = 0.5};
  return facts;
}

// Numbers by Python's math from the recursion as its authors' code has it, p = 0.1, d = 512.
TEST(DeepScaleInit, FollowsTheCorrelationOfTokens) {
  const auto value = [](Stack stack, int layer, double share) {
    return std_of(DeepScaleInit{}, weighed(facts_of(Role::value, stack, 12, layer), share, 0.1));
  };
  EXPECT_NEAR(value(Stack::encoder, 0, 0.005), 0.06445653436524568, 1e-15);
  EXPECT_NEAR(value(Stack::encoder, 5, 0.005), 0.06280734951924544, 1e-15);
  EXPECT_NEAR(value(Stack::encoder, 11, 1.0 / 12), 0.04783648036148355, 1e-15);
  ParameterFacts cross = facts_of(Role::value, Stack::decoder, 6, 1);
  cross.site->kind = Sublayer::cross_attention;
  EXPECT_NEAR(std_of(DeepScaleInit{}, weighed(cross, 1.0 / 12, 0.1)), 0.050708884551958135, 1e-15);
}

TEST(DeepScaleInit, HasTheAuthorsNumbersWhereTheyDependOnDropoutAlone) {
  const auto std_at = [](Role role) {
    return std_of(DeepScaleInit{.summed = 3},
                  weighed(facts_of(role, Stack::encoder, 12), 0.005, 0.1));
  };
  EXPECT_NEAR(std_at(Role::feed_forward_in), std::sqrt(std::sqrt(0.9 / 2) / d), 1e-15);
  EXPECT_NEAR(std_at(Role::feed_forward_out), 0.03619663079025841, 1e-15);
  EXPECT_NEAR(std_at(Role::query), 1 / std::sqrt(512.0), 1e-15);
  EXPECT_NEAR(std_at(Role::target_embedding), 0.5477225575051661, 1e-15);
}

}  // namespace
}  // namespace ballast
