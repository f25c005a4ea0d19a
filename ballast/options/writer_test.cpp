#include "ballast/options/writer.h"

#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "ballast/base/error.h"
#include "ballast/options/load.h"
#include "ballast/testing/toy_recipe.h"

namespace ballast {
namespace {

using testing::HasSubstr;
using toy::Admin;
using toy::LayerNorm;
using toy::Recipe;

template <class Options>
Options reread(const Options& options) {
  return read_text<Options>(toml_text(options), "written.toml").value;
}

/// Draws values over their whole range, so that rare texts of numbers and letters occur.
class Draw {
 public:
  explicit Draw(uint64_t seed) : engine_(seed) {}

  bool coin() { return engine_() & 1; }
  int64_t count(int64_t most) { return 1 + static_cast<int64_t>(engine_() % most); }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double positive() { return std::exp2(between(-1000, 1000)); }

  std::string text() {
    const std::vector<std::string> pieces{"a", "\"", "\\", "\n", "\t", "\x01", "\x7f", "é",
                                          "😀", "'",  "#",  "=",  "]",  " ",    "."};
    std::string made;
    for (int64_t i = count(12); i > 1; --i) made += pieces[engine_() % pieces.size()];
    return made;
  }

  toy::Norm norm() {
    if (coin()) return toy::NoNorm{};
    LayerNorm made{.epsilon = positive()};
    if (coin()) made.momentum = between(0, 1);
    return made;
  }

  decltype(Recipe::outer) residual() {
    if (coin()) return toy::PostNorm{.norm = norm()};
    return Admin{.output_change = text(), .batches = static_cast<int>(count(1 << 30))};
  }

  toy::Attention attention() { return {count(64), {between(0, 1), between(0, 1)}}; }

  Recipe recipe() {
    Recipe made{static_cast<uint64_t>(count(std::numeric_limits<int64_t>::max())),
                text(),
                residual(),
                {},
                {}};
    made.model = {count(4096), toy::Activation(coin()), residual(), norm(), attention(), {}};
    if (coin()) made.model.cross = attention();
    made.train = {count(1 << 30), positive(), coin(), {}, text(), {}, {}, {}, {}};
    if (coin()) made.train.note = text();
    if (coin()) made.train.patience = count(9);
    for (int64_t i = count(4); i > 1; --i) {
      made.train.files.push_back(text());
      made.train.weights.push_back(positive());
      made.train.milestones.push_back(count(1 << 20));
      made.train.phases.push_back(attention());
    }
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(Writer, DefaultsReadBackEqual) {
  EXPECT_EQ(reread(Recipe{}), Recipe{});
  EXPECT_EQ(reread(toy::Model{}), toy::Model{});
  EXPECT_EQ(reread(toy::Train{}), toy::Train{});
  EXPECT_EQ(reread(Admin{}), Admin{});
  EXPECT_EQ(reread(LayerNorm{}), LayerNorm{});
}

TEST(Writer, AnyValuesReadBackEqualAndAreWrittenTheSameAgain) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Recipe recipe = Draw(seed).recipe();
    const Recipe again = reread(recipe);
    ASSERT_EQ(again, recipe) << toml_text(recipe);
    ASSERT_EQ(toml_text(again), toml_text(recipe));
  }
}

TEST(Writer, AnUnsetOptionalStaysUnsetThoughItsDefaultIsSet) {
  Recipe recipe;
  recipe.train.patience.reset();
  EXPECT_THAT(toml_text(recipe), HasSubstr("patience = \"none\"\n"));
  EXPECT_EQ(reread(recipe), recipe);
}

TEST(Writer, TextIsReadableAndInTheOrderOfTheLists) {
  EXPECT_EQ(toml_text(toy::Model{.residual = Admin{}, .cross = toy::Attention{}}),
            R"(d_model = 512
activation = "relu"

[residual]
kind = "admin"
output_change = "log"
batches = 1

[norm]
kind = "layer_norm"
epsilon = 1e-05
momentum = "none"

[attention]
heads = 8
dropout = [0.1, 0.0]

[cross]
heads = 8
dropout = [0.1, 0.0]
)");
  EXPECT_THAT(toml_text(Recipe{}),
              HasSubstr("[model]\n"
                        "d_model = 512\n"
                        "activation = \"relu\"\n"
                        "norm = { kind = \"layer_norm\", epsilon = 1e-05, momentum = \"none\" }\n"
                        "cross = \"none\"\n"));
}

TEST(Writer, AChoiceThatIsTooLongForALineBecomesATable) {
  Recipe recipe;
  recipe.model.residual = Admin{.output_change = std::string(90, 'x')};
  EXPECT_THAT(toml_text(recipe), HasSubstr("[model.residual]\nkind = \"admin\"\n"));
  EXPECT_EQ(reread(recipe), recipe);
}

TEST(Writer, WhatCannotReadBackIsRefused) {
  Recipe recipe;
  recipe.title = "\xff";
  EXPECT_THROW(toml_text(recipe), RecipeError);
  recipe = {};
  recipe.train.note = "none";
  EXPECT_THROW(toml_text(recipe), RecipeError);
  recipe = {};
  recipe.seed = std::numeric_limits<uint64_t>::max();
  EXPECT_THROW(toml_text(recipe), RecipeError);
}

}  // namespace
}  // namespace ballast
