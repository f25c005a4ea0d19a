#include "ballast/model/inventory.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <algorithm>

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
  const auto listed = inventory(*testing::toy_model(testing::toy_options()));
  ASSERT_EQ(inventory(model).size(), listed.size());
  EXPECT_EQ(inventory(model).front().name, listed.front().name);
}

TEST(Inventory, EveryParameterIsListedOnceWithItsRoleAndFans) {
  const auto model = testing::toy_model(testing::toy_options(Admin{}));
  const auto all = inventory(*model);
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
  const auto all = inventory(*testing::toy_model(testing::toy_options(ReZero{})));
  const auto count = std::count_if(all.begin(), all.end(), [](const InventoryEntry& each) {
    return each.facts.role == Role::branch_coefficient;
  });
  EXPECT_EQ(count, 4);  // two layers in each stack
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
  const auto all = inventory(foreign);
  EXPECT_EQ(entry_named(all, "linear.weight").facts.role, Role::hidden);
  EXPECT_EQ(entry_named(all, "linear.weight").facts.fan_in, 3);
  EXPECT_EQ(entry_named(all, "linear.bias").facts.role, Role::bias);
  EXPECT_EQ(entry_named(all, "norm.weight").facts.role, Role::norm_gain);
  EXPECT_EQ(entry_named(all, "norm.weight").start, 1);
  EXPECT_EQ(entry_named(all, "scale").facts.role, Role::bias);
}

}  // namespace
}  // namespace ballast
