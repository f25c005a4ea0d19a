#include "ballast/values/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "ballast/base/error.h"
#include "ballast/model/contradictions.h"
#include "ballast/model/inventory.h"
#include "ballast/testing/toy.h"
#include "ballast/values/calibrate.h"
#include "ballast/values/foldable.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Packed source = testing::toy_ids({5, 3, 1}, testing::toy_vocabulary, 7);
const Packed target = testing::toy_ids({4, 2, 6}, testing::toy_vocabulary, 8);

Packed source_for(const ModelOptions& options) {
  return options.shape().has_source ? source : Packed{};
}

/// A model in float64 whose vectors have left their start, so that every coefficient, gain and bias
/// takes part; in evaluation.
std::shared_ptr<Transformer> moved_model(const ModelOptions& options,
                                         const ParameterizationChoice& parameterization) {
  const VocabularySizes sizes{testing::toy_vocabulary, testing::toy_vocabulary};
  auto model = std::make_shared<Transformer>(options, sizes);
  Plan made = plan(*model, {.init = Fairseq{}, .parameterization = parameterization});
  parameterize(made);
  initialize(made, 3);
  model->to(torch::kDouble);
  const torch::NoGradGuard no_grad;
  int64_t number = 1;
  for (const InventoryEntry& each : inventory(*model).parameters) {
    if (!is_vector(each.facts.role)) continue;
    const auto places = torch::arange(each.tensor.numel(), torch::kDouble) + ++number;
    each.tensor.add_(torch::sin(places * 1.7).view(each.tensor.sizes()), 0.2);
  }
  for (const auto& each : model->named_buffers()) {
    if (each.value().is_floating_point()) each.value().add_(0.3);
  }
  model->context().step = 700;
  model->eval();
  return model;
}

double largest_difference(const Transformer& a, const Transformer& b) {
  const torch::NoGradGuard no_grad;
  const Packed given = source_for(a.options());
  const torch::Tensor left = a.logits(a.forward(given, target));
  const torch::Tensor right = b.logits(b.forward(given, target));
  return (left - right).abs().max().item<double>() / left.abs().max().item<double>();
}

class EveryRow : public ::testing::TestWithParam<testing::LawCase> {};

TEST_P(EveryRow, FoldsToAPlainModelWithTheSameOutputsOrSaysWhyNot) {
  for (const auto& [name, kind] : EnumNames<ModelKind>::value) {
    for (const EmbeddingSharing sharing : {EmbeddingSharing::all, EmbeddingSharing::none}) {
      ModelOptions options = GetParam().options;
      options.kind = kind;
      options.share_embeddings = sharing;
      if (!contradictions(options).empty()) continue;
      SCOPED_TRACE(std::string(name) + " " + std::string(enum_name(sharing)));
      const auto model = moved_model(options, Ntk{});
      if (const std::string reason = refusal_to_fold(options); !reason.empty()) {
        EXPECT_THAT([&] { fold(*model); }, ThrowsMessage<RecipeError>(HasSubstr(reason)));
        continue;
      }
      const auto plain = fold(*model);
      EXPECT_LT(largest_difference(*model, *plain), 1e-10);
      for (const InventoryEntry& each : inventory(*plain).parameters) {
        EXPECT_NE(each.facts.role, Role::shortcut_coefficient) << each.name;
        EXPECT_NE(each.facts.role, Role::branch_coefficient) << each.name;
        EXPECT_NE(each.facts.role, Role::weight_factor) << each.name;
      }
      EXPECT_LT(largest_difference(*plain, *fold(*plain)), 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryRow, ::testing::ValuesIn(testing::all_cases()),
                         [](const auto& info) {
                           return info.param.name + "_" + std::to_string(info.index);
                         });

std::string plain_name(const ResidualChoice& scheme) {
  return std::string(info_of(plain_options(testing::toy_options(scheme)).residual).name);
}

TEST(Fold, NamesThePlainScheme) {
  EXPECT_EQ(plain_name(Admin{}), "post_norm");
  EXPECT_EQ(plain_name(AdminConstant{}), "post_norm");
  EXPECT_EQ(plain_name(DeepNorm{}), "post_norm");
  EXPECT_EQ(plain_name(LayerScale{}), "pre_norm");
  EXPECT_EQ(plain_name(ReZero{}), "no_norm");
  EXPECT_EQ(plain_name(PreNorm{}), "pre_norm");
}

TEST(Fold, NormsOfEachHeadStayWhicheverTheyAre) {
  for (const AttentionNorm attention :
       {AttentionNorm::qkv, AttentionNorm::qkvc, AttentionNorm::qk, AttentionNorm::kv}) {
    for (const bool first_block : {false, true}) {
      const auto model = moved_model(
          testing::toy_options(HybridNorm{.attention = attention, .first_block = first_block}),
          Ntk{});
      EXPECT_LT(largest_difference(*model, *fold(*model)), 1e-10) << enum_name(attention);
    }
  }
}

TEST(Fold, SeveralLanesAreRefusedWithTheReason) {
  EXPECT_EQ(refusal_to_fold(testing::toy_options(HyperConnections{})),
            "in the encoder, its stream has 4 lanes");
}

// The first omega is 1 before training, so tables stay tied and positions as they are.
TEST(Fold, AFreshAdminBecomesAPostNormWithTheSameTables) {
  ModelOptions options = testing::toy_options(Admin{});
  auto model = testing::toy_model(options);
  calibrate(*model, source, target);
  model->to(torch::kDouble);
  model->eval();
  const auto plain = fold(*model);
  EXPECT_LT(largest_difference(*model, *plain), 1e-10);
  EXPECT_EQ(plain->options().share_embeddings, EmbeddingSharing::all);
  EXPECT_EQ(plain->options().positions, options.positions);
  EXPECT_TRUE(torch::equal(plain->target_embedding->weight, model->target_embedding->weight));
}

TEST(Fold, ARampIsFoldedAsFarAsItHasCome) {
  ModelOptions options = testing::toy_options(PreNorm{});
  options.ramp = 2000;
  const auto model = moved_model(options, Standard{});  // at step 700
  const auto plain = fold(*model);
  EXPECT_EQ(plain->options().ramp, 0);
  EXPECT_LT(largest_difference(*model, *plain), 1e-10);
  EXPECT_EQ(info_of(plain->options().residual).name, "pre_norm");
}

TEST(Fold, ANormalisedActivationGoesIntoTheMatrixBehind) {
  ModelOptions options = testing::toy_options(PreNorm{});
  options.activation = ActivationChoice(Gelu{{.normalize = Normalize::mean_and_variance}});
  const auto model = moved_model(options, Standard{});
  const auto plain = fold(*model);
  EXPECT_EQ(plain->options().activation, ActivationChoice(Gelu{}));
  EXPECT_LT(largest_difference(*model, *plain), 1e-10);
}

TEST(Fold, AZeroThatIsDividedByIsRefused) {
  const auto model = moved_model(testing::toy_options(Admin{}), Standard{});
  const torch::NoGradGuard no_grad;
  model->decoder->blocks[1]->at(Sublayer::feed_forward).residual->shortcut[2] = 0;
  EXPECT_THROW(fold(*model), RecipeError);
}

}  // namespace
}  // namespace ballast
