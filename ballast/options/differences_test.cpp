#include "ballast/options/differences.h"

#include <gtest/gtest.h>

#include "ballast/testing/toy_recipe.h"

namespace ballast {
namespace {

using toy::Admin;
using toy::LayerNorm;
using toy::PostNorm;
using toy::Recipe;

TEST(Differences, EqualRecipesHaveNone) { EXPECT_TRUE(differences(Recipe{}, Recipe{}).empty()); }

TEST(Differences, AreNamedWithBothValuesInTheOrderOfTheLists) {
  Recipe first, second;
  first.model.d_model = 256;
  first.model.residual = PostNorm{.norm = LayerNorm{.epsilon = 1e-3}};
  second.outer = Admin{};
  second.model.cross = toy::Attention{};
  second.train.files = {};
  second.train.patience.reset();
  const std::vector<Difference> wanted{
      {"outer.kind", "\"post_norm\"", "\"admin\""},
      {"model.d_model", "256", "512"},
      {"model.residual.norm.epsilon", "0.001", "1e-06"},
      {"model.cross", "\"none\"", "{ heads = 8, dropout = [0.1, 0.0] }"},
      {"train.patience", "5", "\"none\""},
      {"train.files", "[\"a.gz\", \"b.gz\"]", "[]"},
  };
  EXPECT_EQ(differences(first, second), wanted);
}

}  // namespace
}  // namespace ballast
