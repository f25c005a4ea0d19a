#include "ballast/model/options.h"

#include <gtest/gtest.h>

#include "ballast/model/contradictions.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

std::string_view scheme_at(const ModelOptions& options, Stack stack, int64_t layer,
                           int connection) {
  return info_of(options.residual_at(sites_of(options, stack, layer)[connection])).name;
}

// Mix-LN (Li et al. 2024, arXiv:2412.13795): Post-Norm in the first quarter, Pre-Norm in the rest.
TEST(SiteRule, ADepthIsAShareOfTheBlocks) {
  ModelOptions options{.encoder_layers = 12, .residual = PreNorm{}};
  options.sites = {{.to = 0.25, .residual = PostNorm{}}};
  EXPECT_EQ(scheme_at(options, Stack::encoder, 0, 0), "post_norm");
  EXPECT_EQ(scheme_at(options, Stack::encoder, 2, 1), "post_norm");
  EXPECT_EQ(scheme_at(options, Stack::encoder, 3, 0), "pre_norm");
  EXPECT_TRUE(stack_form(options, Stack::encoder).norms.has(Point::stack));
}

TEST(SiteRule, TheLastThatFitsHolds) {
  ModelOptions options{.residual = Admin{}};
  options.decoder_residual = PreNorm{};
  options.sites = {{.stack = Stack::decoder, .residual = SandwichNorm{}},
                   {.sublayer = Sublayer::cross_attention, .residual = PostNorm{}},
                   {.stack = Stack::encoder, .norm = RmsNorm{}}};
  EXPECT_EQ(scheme_at(options, Stack::encoder, 0, 0), "admin");
  EXPECT_EQ(scheme_at(options, Stack::decoder, 0, 0), "sandwich_norm");
  EXPECT_EQ(scheme_at(options, Stack::decoder, 0, 1), "post_norm");
  const ResidualSite encoder = sites_of(options, Stack::encoder, 0)[0];
  EXPECT_EQ(info_of(options.norm_at(encoder)).name, "rms_norm");
}

TEST(QueryKeyNorm, IsOfSingleTokensAtEveryDepth) {
  ModelOptions options = testing::toy_options(ReZero{});
  options.query_key_norm = PerHeadNorm{};
  EXPECT_TRUE(contradictions(options).empty());
  options.sites = {{.from = 0.5, .norm = BatchNorm{}}};
  const std::vector<Contradiction> found = contradictions(options);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().option, "model.query_key_norm");
  options.sites.front().sublayer = Sublayer::feed_forward;
  EXPECT_TRUE(contradictions(options).empty());
}

std::string first_contradiction(const ModelOptions& options) {
  const std::vector<Contradiction> found = contradictions(options);
  return found.empty() ? "" : found.front().option + ": " + found.front().text;
}

TEST(KeyValueHeads, DivideTheHeads) {
  ModelOptions options{.heads = 8, .key_value_heads = 2};
  EXPECT_EQ(first_contradiction(options), "");
  options.key_value_heads = 3;
  EXPECT_EQ(first_contradiction(options),
            "model.key_value_heads: model.key_value_heads = 3 does not divide model.heads = 8");
  options.key_value_heads = 16;
  EXPECT_EQ(first_contradiction(options),
            "model.key_value_heads: model.key_value_heads = 16 does not divide model.heads = 8");
}

TEST(Scores, HaveOneFactor) {
  ModelOptions options{.query_key_norm = CosineAttention{}};
  EXPECT_EQ(first_contradiction(options), "");
  options.scores = InverseScores{};
  EXPECT_EQ(first_contradiction(options).substr(0, 14), "model.scores: ");
}

TEST(Ramp, OfTheModelIsTheSchemeWithIt) {
  ModelOptions options{.residual = PreNorm{}, .ramp = 70, .ramp_by_layer = true};
  for (const ResidualSite& site : sites_of(options, Stack::decoder, 3)) {
    const Ramp scheme{.steps = 70, .by_layer = true};
    EXPECT_EQ(form_at(options, site), scheme.form(site));
  }
}

TEST(SiteRule, AModelOfSeveralSchemesComputesWithEach) {
  ModelOptions options = testing::toy_options(PreNorm{});
  options.sites = {{.sublayer = Sublayer::feed_forward, .residual = SandwichNorm{}}};
  const auto model = testing::toy_model(options);
  const Block& block = *model->decoder->blocks[1];
  EXPECT_EQ(block.at(Sublayer::self_attention).residual->norm_at(Point::branch), nullptr);
  EXPECT_NE(block.at(Sublayer::feed_forward).residual->norm_at(Point::branch), nullptr);
}

TEST(ModelOptions, BucketsThatLeaveNothingBehindTheSingleDistancesAreRefused) {
  EXPECT_TRUE(contradictions({.positions = BucketPositions{32, 17}}).empty());
  ASSERT_EQ(contradictions({.positions = BucketPositions{32, 16}}).size(), 1U);
  EXPECT_EQ(contradictions({.positions = BucketPositions{32, 16}})[0].option, "model.positions");
}

}  // namespace
}  // namespace ballast
