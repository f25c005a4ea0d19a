#include "ballast/diagnose/coordinates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ballast/testing/toy.h"

namespace ballast {
namespace {

constexpr int64_t vocabulary = 64;

/// A small language model on random tokens, and what decides its values.
struct Trial {
  ParameterizationChoice parameterization;
  OptimizerChoice optimizer;
  int64_t heads = 0;         // 0: one for each 32 features
  bool zero_output = false;  // an output of its own that starts at 0
};

Batch random_batch(uint64_t seed) {
  const std::vector<int64_t> lengths{16, 16, 16, 16};
  return {.target_input = testing::toy_ids(lengths, vocabulary, seed),
          .target_output = testing::toy_ids(lengths, vocabulary, seed + 100).tokens,
          .tokens = 64};
}

Coordinates coordinates_of(const Trial& trial, int64_t width, int64_t depth, uint64_t seed) {
  ModelOptions options{.kind = ModelKind::causal_lm,
                       .d_model = width,
                       .d_ff = 2 * width,
                       .heads = trial.heads > 0 ? trial.heads : width / 32,
                       .decoder_layers = depth,
                       .activation = Gelu{},
                       .dropout = 0,
                       .residual = PreNorm{}};
  if (trial.zero_output) options.share_embeddings = EmbeddingSharing::none;
  const auto model = std::make_shared<Transformer>(options, VocabularySizes{0, vocabulary});
  const Plan planned = plan(*model, {.init = VarianceScaling<Family::lecun, Distribution::normal>{},
                                     .parameterization = trial.parameterization,
                                     .optimizer = trial.optimizer});
  parameterize(planned);
  initialize(planned, seed);
  if (trial.zero_output) model->output->weight().detach().zero_();
  const Batch batch = random_batch(seed);
  return first_coordinates({.model = model,
                            .plan = planned,
                            .optimizer = trial.optimizer,
                            .lr = peak_lr(trial.optimizer),
                            .next = [batch] { return batch; },
                            .probe = batch});
}

std::vector<CoordinateSlope> over_widths(const Trial& trial, uint64_t seeds = 3) {
  std::vector<double> widths;
  std::vector<Coordinates> models;
  for (const int64_t width : {64, 128, 256, 512}) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      widths.push_back(static_cast<double>(width));
      models.push_back(coordinates_of(trial, width, 2, seed));
    }
  }
  return coordinate_slopes(widths, models);
}

std::vector<CoordinateSlope> over_depths(const Trial& trial) {
  std::vector<double> depths;
  std::vector<Coordinates> models;
  for (const int64_t depth : {2, 4, 8, 16, 32}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      depths.push_back(static_cast<double>(depth));
      models.push_back(coordinates_of(trial, 64, depth, seed));
    }
  }
  return coordinate_slopes(depths, models);
}

double change(const std::vector<CoordinateSlope>& slopes, const std::string& place) {
  return std::ranges::find(slopes, place, [](const auto& each) { return each.place.name(); })
      ->change.back();
}

/// The largest slope, up or down, of sizes and changes after the last update, but for the logits.
double steepest(const std::vector<CoordinateSlope>& slopes) {
  double most = 0;
  for (const CoordinateSlope& each : slopes) {
    if (each.place.point == Point::logits) continue;
    most = std::max({most, std::abs(each.size.back()), std::abs(each.change.back())});
  }
  return most;
}

const AdamW adam{.lr = 0.002, .weight_decay = 0};
const Sgd sgd{.lr = 0.1, .momentum = 0};

// METHODS 10, test 12: below 0.05 for muP over widths of 64 to 512, and clearly positive without.
TEST(CoordinateCheck, MupIsFlatOverWidthsWithAdamAndWithSgd) {
  EXPECT_LT(steepest(over_widths({Mup{.base_width = 64}, adam})), 0.05);
  EXPECT_LT(steepest(over_widths({Mup{.base_width = 64}, sgd})), 0.05);
}

TEST(CoordinateCheck, StandardGrowsWithTheWidth) {
  for (const OptimizerChoice& optimizer : std::initializer_list<OptimizerChoice>{adam, sgd}) {
    const auto slopes = over_widths({Standard{}, optimizer});
    for (const char* place :
         {"decoder.first.self_attention.stream", "decoder.last.feed_forward.stream", "logits"}) {
      EXPECT_GT(change(slopes, place), 0.3) << place;
    }
  }
}

// At first the logits of random rows fall as 1/sqrt(m), and with them some part of their change.
TEST(CoordinateCheck, MupsLogitsAreFlatWhereTheirOutputStartsAtZero) {
  const auto slopes = over_widths({Mup{.base_width = 64}, adam, 0, true});
  EXPECT_NEAR(change(slopes, "logits"), 0, 0.05);
  EXPECT_NEAR(over_widths({Mup{.base_width = 64}, adam}).back().size.front(), -0.5, 0.25);
}

// Few models of width 64 leave some hundredths to chance; standard has more than 0.3.
TEST(CoordinateCheck, MupIsFlatUnderTheOtherSizesOfUpdates) {
  const OptimizerChoice rules[] = {Muon{.lr = 0.03, .rest = adam},
                                   Muon{.lr = 0.003, .scale = MuonScale::match_adam, .rest = adam},
                                   Lamb{.lr = 0.03, .weight_decay = 0}};
  for (const OptimizerChoice& rule : rules) {
    const auto slopes = over_widths({Mup{.base_width = 64}, rule}, 2);
    EXPECT_LT(steepest(slopes), 0.1) << info_of(rule).name;
  }
}

TEST(CoordinateCheck, MupIsFlatWhereHeadsGrowInsteadOfTheirNumber) {
  EXPECT_LT(steepest(over_widths({Mup{.base_width = 64, .base_head_size = 16}, adam, 4})), 0.08);
}

TEST(CoordinateCheck, UnitMupIsFlatOverWidths) {
  EXPECT_LT(steepest(over_widths({UnitMup{}, AdamW{.lr = 0.2, .weight_decay = 0}})), 0.08);
}

/// What a deep model comes to.
const std::array<const char*, 3> at_the_end{"decoder.last.feed_forward.stream", "decoder.stack",
                                            "logits"};

TEST(CoordinateCheck, RowsForTheDepthAreFlatOverDepthsAndStandardIsNot) {
  const AdamW rule{.lr = 0.003, .weight_decay = 0};
  const auto complete = over_depths({CompleteP{.base_width = 64}, rule});
  const auto deep = over_depths({DepthMup{.base_width = 64, .base_depth = 2}, rule});
  const auto unit = over_depths({UnitMup{}, AdamW{.lr = 0.3, .weight_decay = 0}});
  for (const char* place : at_the_end) {
    EXPECT_NEAR(change(complete, place), 0, 0.05) << place;
    EXPECT_NEAR(change(deep, place), 0, 0.05) << place;
    EXPECT_NEAR(change(unit, place), 0, 0.05) << place;
  }
  EXPECT_GT(change(over_depths({Standard{}, rule}), at_the_end[0]), 0.3);
  // With alpha = 1/2 a branch learns 1/sqrt(M) of what it does with alpha = 1 (Dey et al. 2025).
  const std::string branch = "decoder.first.self_attention.branch";
  EXPECT_NEAR(change(complete, branch), 0, 0.05);
  EXPECT_NEAR(change(deep, branch), -0.5, 0.1);
}

TEST(CoordinateSlopes, ArePowersOfTheScale) {
  const std::vector<double> scales{2, 4, 8, 8};
  std::vector<Coordinates> models;
  for (const double scale : scales) {
    models.push_back({{.place = {}, .size = {3 * scale, 5}, .change = {0, 1 / (scale * scale)}}});
  }
  const auto slopes = coordinate_slopes(scales, models);
  ASSERT_EQ(slopes.size(), 1U);
  EXPECT_NEAR(slopes[0].size[0], 1, 1e-12);
  EXPECT_NEAR(slopes[0].size[1], 0, 1e-12);
  EXPECT_TRUE(std::isnan(slopes[0].change[0]));
  EXPECT_NEAR(slopes[0].change[1], -2, 1e-12);
}

TEST(Trend, IsTheWordForASlope) {
  EXPECT_EQ(trend_of(0.05, 0.1), Trend::flat);
  EXPECT_EQ(trend_of(0.2, 0.1), Trend::grows);
  EXPECT_EQ(trend_of(-0.2, 0.1), Trend::vanishes);
  EXPECT_EQ(trend_of(std::nan(""), 0.1), Trend::still);
}

// RAdam makes no update before the sixth.
TEST(FirstCoordinates, OfARuleThatRestsAreStill) {
  const Coordinates found = coordinates_of({Standard{}, RAdam{}}, 32, 1, 1);
  std::vector<std::string> names;
  for (const Coordinate& each : found) {
    names.push_back(each.place.name());
    EXPECT_EQ(each.size, std::vector<double>(5, each.size.front()));
    EXPECT_EQ(each.change, std::vector<double>(5, 0));
    EXPECT_GT(each.size.front(), 0);
  }
  EXPECT_EQ(names.size(), 2 * 7 + 2U);
  EXPECT_EQ(names.back(), "logits");
  EXPECT_THAT(names, ::testing::Contains("decoder.first.self_attention.heads"));
}

}  // namespace
}  // namespace ballast
