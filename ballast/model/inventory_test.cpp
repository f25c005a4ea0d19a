#include "ballast/model/inventory.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "ballast/testing/toy.h"

namespace ballast {
namespace {

const InventoryEntry& entry_named(const std::vector<InventoryEntry>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

TEST(Inventory, AModelOnTheStackIsListedLikeOneInASharedPointer) {
  Transformer model(testing::toy_options(), {11, 11});
  const auto listed = inventory(*testing::toy_model(testing::toy_options())).parameters;
  ASSERT_EQ(inventory(model).parameters.size(), listed.size());
  EXPECT_EQ(inventory(model).parameters.front().name, listed.front().name);
}

TEST(Inventory, EveryParameterIsListedOnceWithItsRoleAndFans) {
  const auto model = testing::toy_model(testing::toy_options(Admin{}));
  const auto all = inventory(*model).parameters;
  EXPECT_EQ(all.size(), model->parameters().size());  // the shared table is registered once
  const InventoryEntry& in = entry_named(all, "encoder.layers.1.feed_forward.in.weight");
  EXPECT_EQ(in.facts.role, Role::feed_forward_in);
  EXPECT_EQ(in.facts.fan_in, 8);
  EXPECT_EQ(in.facts.fan_out, 16);
  EXPECT_EQ(in.facts.site->index, 3);
  EXPECT_EQ(entry_named(all, "decoder.layers.0.cross_attention_residual.shortcut").facts.role,
            Role::shortcut_coefficient);
}

TEST(Inventory, ReZeroListsTheCoefficientOfALayerOnce) {
  const auto all = inventory(*testing::toy_model(testing::toy_options(ReZero{}))).parameters;
  const auto count = std::count_if(all.begin(), all.end(), [](const InventoryEntry& each) {
    return each.facts.role == Role::branch_coefficient;
  });
  EXPECT_EQ(count, 4);  // two layers in each stack
}

TEST(Inventory, OfEveryRowIsEveryNamedParameter) {
  for (const testing::LawCase& each_case : testing::all_cases()) {
    for (const EmbeddingSharing sharing : {EmbeddingSharing::none, EmbeddingSharing::all}) {
      ModelOptions options = each_case.options;
      options.share_embeddings = sharing;
      options.output_bias = true;
      const auto model = testing::toy_model(options);
      std::set<std::string> listed, named;
      for (const InventoryEntry& each : inventory(*model).parameters) listed.insert(each.name);
      for (const auto& each : model->named_parameters()) named.insert(each.key());
      for (const std::string& name : listed) EXPECT_TRUE(named.contains(name)) << name;
      std::set<const void*> distinct;  // one that a layer owns has a name in each connection
      for (const torch::Tensor& each : model->parameters()) {
        distinct.insert(each.unsafeGetTensorImpl());
      }
      EXPECT_EQ(listed.size(), distinct.size()) << each_case.name;
    }
  }
}

class Forgetful : public torch::nn::Module, public Described {
 public:
  Forgetful() { register_parameter("forgotten", torch::ones({1})); }
  std::vector<ParameterSlot> describe() override { return {}; }
};

TEST(Inventory, ADescribedModuleThatForgetsAParameterIsRefused) {
  Forgetful module;
  EXPECT_THROW(inventory(module), std::logic_error);
}

TEST(Inventory, FactsOfABranchAreThoseOfItsConnectionVectorsIncluded) {
  const auto model = testing::toy_model(testing::toy_options(DeepNorm{}));
  const auto all = inventory(*model).parameters;
  const ParameterFacts& bias =
      entry_named(all, "decoder.layers.1.cross_attention.value.bias").facts;
  EXPECT_EQ(bias.site->kind, Sublayer::cross_attention);
  EXPECT_EQ(bias.gain, 1);
  const std::string norm = "decoder.layers.1.cross_attention_residual.norm_out.gain";
  EXPECT_EQ(entry_named(all, norm).facts.site->index, 4);
  const auto& value = entry_named(all, "decoder.layers.1.cross_attention.value.weight").facts;
  EXPECT_NEAR(value.gain, DeepNorm{}.beta(*value.site), 1e-15);
  EXPECT_EQ(entry_named(all, "target_embedding.weight").facts.site, std::nullopt);
}

// METHODS 5.1.1: the authors' optimizer decays omega like any weight.
TEST(Inventory, OmegaDecaysAndNoOtherVectorDoes) {
  const auto all = inventory(*testing::toy_model(testing::toy_options(Admin{}))).parameters;
  for (const InventoryEntry& each : all) {
    const bool decays =
        !is_vector(each.facts.role) || each.facts.role == Role::shortcut_coefficient;
    EXPECT_EQ(each.facts.decays(), decays) << each.name;
  }
}

TEST(Factors, AreListedWithTheirPlaces) {
  const auto model = testing::toy_model(testing::toy_options());
  int scores = 0, tokens = 0;
  for (const FactorEntry& each : inventory(*model).factors) {
    if (each.facts.point == Point::scores) {
      ++scores;
      EXPECT_EQ(*each.value, 0.5);  // 1/sqrt(8 / 2)
      EXPECT_TRUE(each.facts.site.has_value());
    }
    if (each.facts.point == Point::token) {
      ++tokens;
      EXPECT_EQ(*each.value, std::sqrt(8.0));
    }
  }
  EXPECT_EQ(scores, 6);  // two layers of one, two of two attentions
  EXPECT_EQ(tokens, 1);
}

class Foreign : public torch::nn::Module {
 public:
  Foreign() {
    register_module("linear", torch::nn::Linear(3, 5));
    register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({5})));
    register_parameter("scale", torch::ones({1}));
  }
};

TEST(Inventory, ModulesOfTorchItselfGetRolesByType) {
  Foreign foreign;
  const auto all = inventory(foreign).parameters;
  EXPECT_EQ(entry_named(all, "linear.weight").facts.role, Role::hidden);
  EXPECT_EQ(entry_named(all, "linear.weight").facts.fan_in, 3);
  EXPECT_EQ(entry_named(all, "linear.bias").facts.role, Role::bias);
  EXPECT_EQ(entry_named(all, "norm.weight").facts.role, Role::norm_gain);
  EXPECT_EQ(entry_named(all, "norm.weight").start, 1);
  EXPECT_EQ(entry_named(all, "scale").facts.role, Role::bias);
}

}  // namespace
}  // namespace ballast
