#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ballast/base/moments.h"
#include "ballast/optim/optimizer.h"
#include "ballast/testing/toy.h"
#include "ballast/values/plan.h"

namespace ballast {
namespace {

using testing::toy_ids;
using testing::toy_options;
using testing::toy_vocabulary;

/// The planned rows of a model by name.
std::map<std::string, PlannedParameter> rows_of(Transformer& model, const InitChoice& init) {
  std::map<std::string, PlannedParameter> rows;
  for (const PlannedParameter& each : plan(model, {.init = init}).parameters) {
    rows.emplace(each.entry.name, each);
  }
  return rows;
}

TEST(Plan, EveryTensorKnowsTheModelAndAnAttentionItsHeads) {
  ModelOptions options = toy_options(DeepNorm{});
  options.decoder_layers = 3;
  options.dropout = 0.25;
  auto model = testing::toy_model(options);
  for (const auto& [name, row] : rows_of(*model, Fairseq{})) {
    EXPECT_EQ(row.entry.facts.model.encoder_layers, 2) << name;
    EXPECT_EQ(row.entry.facts.model.decoder_layers, 3) << name;
    EXPECT_EQ(row.entry.facts.model.d_model, 8) << name;
    EXPECT_EQ(row.entry.facts.model.dropout, 0.25) << name;
  }
  const auto rows = rows_of(*model, Fairseq{});
  const ParameterFacts query = rows.at("decoder.layers.2.cross_attention.query.weight").entry.facts;
  EXPECT_EQ(query.head_width, 4);
  EXPECT_EQ(query.shortcut, DeepNorm{}.alpha(*query.site));
}

TEST(Plan, TheSecondMatrixOfAFeedForwardLayerKnowsItsActivation) {
  ModelOptions options = toy_options(PreNorm{});
  options.activation = Tanh{};
  auto model = testing::toy_model(options);
  const auto rows = rows_of(*model, ActivationMatched{});
  const double out = rows.at("encoder.layers.0.feed_forward.out.weight").draw.std;
  EXPECT_NEAR(out * std::sqrt(16.0), 1.592537419722831, 1e-12);  // 1/sqrt(E tanh^2)
  EXPECT_NEAR(rows.at("encoder.layers.0.feed_forward.in.weight").draw.std, std::sqrt(1 / 8.0),
              1e-15);
  // A norm before the second matrix leaves it a second moment of 1.
  options.residual = SubNorm{};
  auto normed = testing::toy_model(options);
  const PlannedParameter behind =
      rows_of(*normed, ActivationMatched{}).at("encoder.layers.0.feed_forward.out.weight");
  EXPECT_NEAR(behind.draw.std, behind.entry.facts.gain / std::sqrt(16.0), 1e-15);
}

TEST(Initialize, T5DrawsItsRelativeBiases) {
  ModelOptions options = toy_options(PreNorm{});
  options.positions = BucketPositions{};
  auto model = testing::toy_model(options, 1, T5Init{});
  const auto rows = rows_of(*model, T5Init{});
  int found = 0;
  for (const auto& [name, row] : rows) {
    if (row.entry.facts.role != Role::position_bias) continue;
    EXPECT_NEAR(row.draw.std, 1 / std::sqrt(8.0), 1e-15);
    EXPECT_GT(row.entry.tensor.abs().min().item<double>(), 0) << name;
    ++found;
  }
  EXPECT_EQ(found, 2);  // one a stack
  EXPECT_NEAR(rows.at("encoder.layers.0.self_attention.query.weight").draw.std,
              1 / std::sqrt(8.0 * 4), 1e-15);
}

// Every branch gives 0, as one that ReZero multiplies by its 0.
TEST(Initialize, FixupIsTheIdentityAtTheStart) {
  auto fixup = testing::toy_model(toy_options(SkipInit{.initial = 1}), 1, FixupInit{});
  auto still = testing::toy_model(toy_options(ReZero{}), 1, FixupInit{});
  const Packed source = toy_ids({3, 4}, toy_vocabulary, 1), target = toy_ids({5, 2}, 11, 2);
  EXPECT_TRUE(torch::equal(fixup->forward(source, target), still->forward(source, target)));
  EXPECT_GT(fixup->target_embedding->weight.abs().min().item<double>(), 0);
}

}  // namespace
}  // namespace ballast
