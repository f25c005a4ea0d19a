#include "ballast/diagnose/coordinates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "ballast/testing/toy.h"

namespace ballast {
namespace {

constexpr int64_t vocabulary = 64;

/// What a check is made with.
struct Trial {
  ParameterizationChoice parameterization;
  OptimizerChoice optimizer;
  double lr = 1e-3;
  int64_t heads = 0;  // 0: one for each 32 features
};

Batch random_batch(uint64_t seed) {
  const std::vector<int64_t> lengths{16, 16, 16, 16};
  return {.target_input = testing::toy_ids(lengths, vocabulary, seed),
          .target_output = testing::toy_ids(lengths, vocabulary, seed + 100).tokens,
          .tokens = 64};
}

Coordinates coordinates_of(const Trial& trial, int64_t width, int64_t depth, uint64_t seed) {
  const ModelOptions options{.kind = ModelKind::causal_lm,
                             .d_model = width,
                             .d_ff = 2 * width,
                             .heads = trial.heads > 0 ? trial.heads : width / 32,
                             .decoder_layers = depth,
                             .activation = Gelu{},
                             .dropout = 0,
                             .residual = PreNorm{}};
  const auto model = std::make_shared<Transformer>(options, VocabularySizes{0, vocabulary});
  const Plan planned = plan(*model, {.init = VarianceScaling<Family::lecun, Distribution::normal>{},
                                     .parameterization = trial.parameterization,
                                     .optimizer = trial.optimizer});
  parameterize(planned);
  initialize(planned, seed);
  const Batch batch = random_batch(seed);
  return first_coordinates({.model = model,
                            .plan = planned,
                            .optimizer = trial.optimizer,
                            .lr = trial.lr,
                            .next = [batch] { return batch; },
                            .probe = batch});
}

std::vector<CoordinateSlope> over_widths(const Trial& trial) {
  std::vector<double> widths;
  std::vector<Coordinates> models;
  for (const int64_t width : {64, 128, 256, 512}) {
    for (const uint64_t seed : {1, 2, 3}) {
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
    for (const uint64_t seed : {1, 2, 3}) {
      depths.push_back(static_cast<double>(depth));
      models.push_back(coordinates_of(trial, 64, depth, seed));
    }
  }
  return coordinate_slopes(depths, models);
}

void show(const char* name, const std::vector<CoordinateSlope>& slopes) {
  std::printf("%s\n", name);
  for (const auto& each : slopes) {
    std::printf("%-44s %+.3f %+.3f |", each.place.name().c_str(), each.size.front(),
                each.size.back());
    for (const double c : each.change) std::printf(" %+.3f", c);
    std::printf("\n");
  }
}

TEST(Explore, Slopes) {
  const double lr = std::atof(std::getenv("LR"));
  show("standard adam", over_widths({Standard{}, AdamW{.weight_decay = 0}, lr}));
  show("mup adam", over_widths({Mup{.base_width = 64}, AdamW{.weight_decay = 0}, lr}));
  show("mup adam fixed heads",
       over_widths({Mup{.base_width = 64, .base_head_size = 16}, AdamW{.weight_decay = 0}, lr, 4}));
  show("mup sgd", over_widths({Mup{.base_width = 64}, Sgd{.momentum = 0}, lr * 100}));
  show("standard sgd", over_widths({Standard{}, Sgd{.momentum = 0}, lr * 100}));
  show("mup muon",
       over_widths({Mup{.base_width = 64}, Muon{.rest = AdamW{.lr = 0.02 / 10}}, lr * 10}));
  show("mup muon match",
       over_widths({Mup{.base_width = 64},
                    Muon{.scale = MuonScale::match_adam, .rest = AdamW{.lr = 0.02}}, lr}));
  show("mup lamb", over_widths({Mup{.base_width = 64}, Lamb{.weight_decay = 0}, lr * 10}));
  show("u_mup adam", over_widths({UnitMup{}, AdamW{.weight_decay = 0}, lr * 100}));
  show("depth standard", over_depths({Standard{}, AdamW{.weight_decay = 0}, lr}));
  show("depth mup",
       over_depths({DepthMup{.base_width = 64, .base_depth = 2}, AdamW{.weight_decay = 0}, lr}));
  show("completep",
       over_depths({CompleteP{.base_width = 64, .base_depth = 2}, AdamW{.weight_decay = 0}, lr}));
  show("completep sgd",
       over_depths({CompleteP{.base_width = 64, .base_depth = 2}, Sgd{.momentum = 0}, lr * 100}));
  show("u_mup", over_depths({UnitMup{}, AdamW{.weight_decay = 0}, lr * 100}));
}

}  // namespace
}  // namespace ballast
