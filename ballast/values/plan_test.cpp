#include "ballast/values/plan.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ballast/base/moments.h"
#include "ballast/optim/optimizer.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using testing::toy_ids;
using testing::toy_options;
using testing::toy_vocabulary;

std::map<std::string, torch::Tensor> values_of(const ModelOptions& options) {
  auto model = testing::toy_model(options);
  std::map<std::string, torch::Tensor> values;
  for (const InventoryEntry& entry : inventory(*model).parameters)
    values[entry.name] = entry.tensor;
  return values;
}

TEST(Initialize, AddingALayerReshufflesNoOther) {
  ModelOptions deeper = toy_options();
  deeper.encoder_layers = 3;
  const auto few = values_of(toy_options()), many = values_of(deeper);
  for (const auto& [name, value] : few) {
    EXPECT_TRUE(torch::equal(value, many.at(name))) << name;
  }
  EXPECT_GT(many.size(), few.size());
}

TEST(Initialize, ASecondCallChangesNothing) {
  auto model = testing::toy_model(toy_options(DeepNorm{}));
  const auto planned = plan(*model, {});
  initialize(planned, 5);
  const torch::Tensor once =
      model->encoder->blocks[0]->branch<FeedForward>(Sublayer::feed_forward).in->weight.clone();
  initialize(planned, 5);
  EXPECT_TRUE(torch::equal(
      once, model->encoder->blocks[0]->branch<FeedForward>(Sublayer::feed_forward).in->weight));
}

TEST(Initialize, NtkAndStandardAreTheSameFunctionAtTheStart) {
  const ModelOptions options = toy_options(PreNorm{});
  auto standard = testing::toy_model(options);
  auto ntk = testing::toy_model(options);
  const auto planned = plan(*ntk, {.init = Fairseq{}, .parameterization = Ntk{}});
  parameterize(planned);
  initialize(planned, 1);
  const Packed source = toy_ids({3, 4}, toy_vocabulary, 1), target = toy_ids({5, 2}, 11, 2);
  const torch::Tensor a = standard->logits(standard->forward(source, target));
  const torch::Tensor b = ntk->logits(ntk->forward(source, target));
  EXPECT_TRUE(torch::allclose(a, b, 1e-4, 1e-5));
  EXPECT_NEAR(moments(ntk->target_embedding->weight).second, 1, 0.5);
}

std::vector<ParameterizationChoice> parameterizations() {
  std::vector<ParameterizationChoice> all;
  for (const std::string& name : kind_names<ParameterizationChoice>()) {
    all.push_back(*ChoiceTraits<ParameterizationChoice>::make(name));
  }
  return all;
}

class EveryParameterization : public ::testing::TestWithParam<ParameterizationChoice> {};

TEST_P(EveryParameterization, LearnsABatchWithAdamAndWithSgd) {
  const Packed source = toy_ids({3, 4}, toy_vocabulary, 1), target = toy_ids({5, 2}, 11, 2);
  const torch::Tensor next = toy_ids({5, 2}, toy_vocabulary, 3).tokens;
  for (const OptimizerChoice& optimizer :
       std::initializer_list<OptimizerChoice>{Adam{.lr = 0.02}, Sgd{.lr = 0.02}}) {
    ModelOptions options = toy_options(PreNorm{});
    options.share_embeddings = EmbeddingSharing::none;
    options.output_bias = true;
    auto model = testing::toy_model(options);
    const Plan planned = plan(*model, {.parameterization = GetParam(), .optimizer = optimizer});
    parameterize(planned);
    initialize(planned, 1);
    Optimizer rule(optimizer, optimized(planned));
    std::vector<double> losses;
    for (int step = 0; step < 20; ++step) {
      const torch::Tensor hidden = model->forward(source, target);
      const torch::Tensor loss = cross_entropy(model->output->against(hidden, next), {}).loss / 7;
      losses.push_back(loss.item<double>());
      loss.backward();
      rule.step(peak_lr(optimizer));
      rule.clear_gradients();
    }
    EXPECT_LT(losses.back(), losses.front()) << info_of(optimizer).name;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryParameterization, ::testing::ValuesIn(parameterizations()),
                         [](const auto& info) { return std::string(info_of(info.param).name); });

TEST(Initialize, MupAtItsBaseIsStandardToTheBit) {
  const ModelOptions options = toy_options(PreNorm{});
  auto standard = testing::toy_model(options, 1, Orthogonal{});
  const Packed source = toy_ids({3, 4}, toy_vocabulary, 1), target = toy_ids({5, 2}, 11, 2);
  const torch::Tensor expected = standard->logits(standard->forward(source, target));
  for (const ParameterizationChoice& row : std::initializer_list<ParameterizationChoice>{
           Mup{.base_width = 8}, DepthMup{.base_width = 8, .base_depth = 2},
           CompleteP{.base_width = 8, .base_depth = 2}}) {
    auto model = testing::toy_model(options);
    const Plan planned = plan(*model, {.init = Orthogonal{}, .parameterization = row});
    parameterize(planned);
    initialize(planned, 1);
    EXPECT_TRUE(torch::equal(model->logits(model->forward(source, target)), expected));
  }
}

// A std that says nothing of the width is the base model's; a matrix four times as wide has half.
TEST(Plan, MupTakesTheStdOfTheBaseModelWhateverTheRule) {
  ModelOptions options = toy_options(PreNorm{});
  options.d_model = 32;
  options.d_ff = 64;
  auto model = testing::toy_model(options);
  const auto std_of = [&](const InitChoice& init, std::string_view name) {
    const Mup rule{.base_width = 8, .base_head_size = 4};
    const Plan made = plan(*model, {.init = init, .parameterization = rule});
    return std::ranges::find_if(made.parameters,
                                [&](const auto& each) { return each.entry.name == name; })
        ->draw.std;
  };
  const std::string_view matrix = "decoder.layers.0.feed_forward.out.weight";
  // Glorot of 16 and 8 at the base: sqrt(2 / 24) / 2; orthogonal: 1 / sqrt(16) / 2.
  EXPECT_NEAR(std_of(VarianceScaling<Family::glorot, Distribution::normal>{}, matrix),
              std::sqrt(2.0 / 24) / 2, 1e-12);
  EXPECT_NEAR(std_of(Orthogonal{}, matrix), 1.0 / 8, 1e-12);
  EXPECT_NEAR(std_of(Orthogonal{}, "target_embedding.weight"), 1 / std::sqrt(8), 1e-12);
  // T5's queries of width 8 and heads of 4: 1 / sqrt(8 * 4).
  EXPECT_NEAR(std_of(T5Init{}, "decoder.layers.0.self_attention.query.weight"),
              1 / std::sqrt(8.0 * 4) / 2, 1e-12);
}

/// A model that is none of ours: one of torch's layers in a branch, one outside.
class Foreign : public torch::nn::Module {
 public:
  explicit Foreign(const ResidualSite& site) {
    inner_ = register_module("inner", torch::nn::Linear(8, 8));
    register_module("outer", torch::nn::Linear(8, 8));
    register_module("residual",
                    std::make_shared<Residual>(ResidualOptions{.form = DeepNorm{}.form(site),
                                                               .norm = LayerNorm{},
                                                               .site = site,
                                                               .around = inner_.ptr()}));
  }

 private:
  torch::nn::Linear inner_{nullptr};
};

TEST(Plan, KeepsASchemesGainInAModuleOfTorchItself) {
  const ResidualSite site{.count = 24, .encoder_layers = 12, .d_model = 8};
  Foreign model(site);
  double inner = 0, outer = 0;
  for (const PlannedParameter& each : plan(model, {.init = Orthogonal{}}).parameters) {
    if (each.entry.name == "inner.weight") inner = each.draw.std;
    if (each.entry.name == "outer.weight") outer = each.draw.std;
  }
  EXPECT_NEAR(inner / outer, DeepNorm{}.beta(site), 1e-12);
}

TEST(Initialize, TorchsBiasesAreDrawnInOurLayersAndInTorchsOwn) {
  const ResidualSite site{.d_model = 8};
  Foreign foreign(site);
  for (const PlannedParameter& each : plan(foreign, {.init = TorchDefault{}}).parameters) {
    if (each.entry.facts.role != Role::bias) continue;
    EXPECT_NEAR(each.draw.std, 1 / std::sqrt(3.0 * 8), 1e-15) << each.entry.name;
  }
  auto model = testing::toy_model(toy_options(), 1, TorchDefault{});
  const auto& layer = model->encoder->blocks[0]->branch<FeedForward>(Sublayer::feed_forward);
  EXPECT_GT(layer.out->bias.abs().max().item<double>(), 0);
  EXPECT_LE(layer.out->bias.abs().max().item<double>(), 1 / std::sqrt(16.0));
}

TEST(Plan, HoldsTheFactorsOfTheForwardPassAndSetsThem) {
  const auto model = testing::toy_model(toy_options(PostNorm{}));
  Plan made = plan(*model, {});
  for (PlannedFactor& each : made.factors) {
    if (each.entry.facts.point == Point::logits) each.value = 3;
  }
  const torch::Tensor hidden = torch::ones({1, 8});
  const torch::Tensor before = model->logits(hidden);
  parameterize(made);
  EXPECT_TRUE(torch::allclose(model->logits(hidden), 3 * before));
}

TEST(Initialize, DeepNormShrinksTheValuePathByBeta) {
  ModelOptions options = toy_options(DeepNorm{});
  options.d_model = 64;
  options.d_ff = 256;
  auto deep = testing::toy_model(options);
  options.residual = PostNorm{};
  auto post = testing::toy_model(options);
  const double beta =
      DeepNorm{}.beta(deep->encoder->blocks[0]->at(Sublayer::feed_forward).residual->site());
  const torch::Tensor ratio =
      deep->encoder->blocks[0]->branch<FeedForward>(Sublayer::feed_forward).in->weight /
      post->encoder->blocks[0]->branch<FeedForward>(Sublayer::feed_forward).in->weight;
  EXPECT_TRUE(torch::allclose(ratio, torch::full_like(ratio, beta), 1e-4, 0));
  EXPECT_TRUE(torch::equal(
      deep->encoder->blocks[0]->branch<SelfAttention>(Sublayer::self_attention).query->weight,
      post->encoder->blocks[0]->branch<SelfAttention>(Sublayer::self_attention).query->weight));
}

// C19: half types are drawn in float64 and rounded once.
TEST(Initialize, C19AHalfPrecisionModelHoldsTheRoundedValues) {
  const ModelOptions options = toy_options();
  auto wide = testing::toy_model(options);
  auto narrow = testing::toy_model(options);
  narrow->to(torch::kBFloat16);
  initialize(plan(*narrow, {.init = Orthogonal{}}), 3);
  initialize(plan(*wide, {.init = Orthogonal{}}), 3);
  const torch::Tensor& value =
      narrow->decoder->blocks[1]->branch<FeedForward>(Sublayer::feed_forward).out->weight;
  EXPECT_TRUE(torch::equal(value, wide->decoder->blocks[1]
                                      ->branch<FeedForward>(Sublayer::feed_forward)
                                      .out->weight.to(torch::kBFloat16)));
}

// Rows of a learned position table follow the same rule as every other table.
TEST(Initialize, NtkScalesLearnedPositionsToo) {
  ModelOptions options = toy_options(PreNorm{});
  options.positions = LearnedPositions{.max_length = 8};
  auto standard = testing::toy_model(options);
  auto ntk = testing::toy_model(options);
  const auto planned = plan(*ntk, {.parameterization = Ntk{}});
  parameterize(planned);
  initialize(planned, 1);
  const Packed source = toy_ids({3}, toy_vocabulary, 1), target = toy_ids({5}, toy_vocabulary, 2);
  EXPECT_TRUE(
      torch::allclose(standard->forward(source, target), ntk->forward(source, target), 1e-4, 1e-5));
}

// C20: rows of N(0, 1) tied to the output give logits of std sqrt(d), and a first loss far above
// ln V; with std d^-1/2 the loss starts near ln V.
TEST(Initialize, C20TheDefaultTiedTableStartsNearLnV) {
  ModelOptions options = toy_options(PostNorm{});
  options.d_model = 64;
  auto model = testing::toy_model(options);
  const Packed source = toy_ids({30, 40}, toy_vocabulary, 1);
  const Packed target = toy_ids({30, 40}, toy_vocabulary, 2);
  const auto loss = [&] {
    const torch::Tensor hidden = model->forward(source, target);
    const Packed next = toy_ids({30, 40}, toy_vocabulary, 3);
    return cross_entropy(model->output->against(hidden, next.tokens), {}).loss.item<double>() / 70;
  };
  EXPECT_NEAR(loss(), std::log(toy_vocabulary), 1.0);
  model->target_embedding->weight.detach().mul_(8);
  EXPECT_GT(loss(), 3 * std::log(toy_vocabulary));
}

}  // namespace
}  // namespace ballast
