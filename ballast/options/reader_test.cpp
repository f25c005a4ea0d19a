#include "ballast/options/reader.h"

#include <gmock/gmock.h>

#include "ballast/base/error.h"
#include "ballast/options/load.h"
#include "ballast/testing/toy_recipe.h"

namespace ballast {
namespace {

using toy::Admin;
using toy::LayerNorm;
using toy::PostNorm;
using toy::Recipe;

Recipe read(std::string_view text) { return read_text<Recipe>(text, "r.toml").value; }

std::string problems_of(std::string_view text) {
  try {
    read(text);
  } catch (const RecipeError& error) {
    return error.what();
  }
  return "";
}

TEST(Reader, AnEmptyTextKeepsEveryDefault) { EXPECT_EQ(read(""), Recipe{}); }

TEST(Reader, EveryTypeOfOptionIsRead) {
  const Recipe recipe = read(R"(
seed = 7
title = "deep"
[model]
d_model = 1e3
activation = "gelu"
attention = { heads = 4, dropout = [0, 0.2] }
cross.heads = 2
[train]
lr = 1
resume = false
patience = "none"
log = "runs/log"
files = ["x"]
weights = [1, 0.5]
milestones = [10, 20]
phases = [{ heads = 1 }, {}]
)");
  Recipe wanted;
  wanted.seed = 7;
  wanted.title = "deep";
  wanted.model.d_model = 1000;
  wanted.model.activation = toy::Activation::gelu;
  wanted.model.attention = {.heads = 4, .dropout = {0, 0.2}};
  wanted.model.cross = toy::Attention{.heads = 2};
  wanted.train = {.steps = 1000,
                  .lr = 1,
                  .resume = false,
                  .patience = std::nullopt,
                  .log = "runs/log",
                  .files = {"x"},
                  .weights = {1, 0.5},
                  .milestones = {10, 20},
                  .phases = {{.heads = 1}, {}}};
  EXPECT_EQ(recipe, wanted);
}

TEST(Reader, AKindMayBeGivenAsAWordOrWithItsOptions) {
  EXPECT_EQ(read("model.residual = 'admin'").model.residual,
            (decltype(toy::Model::residual)(Admin{})));
  const auto read_admin = read("model.residual = { batches = 3, kind = 'admin' }").model.residual;
  EXPECT_EQ(std::get<Admin>(read_admin), (Admin{.batches = 3}));
  EXPECT_EQ(read("[model.residual]\nkind = 'admin'\nbatches = 3").model.residual, read_admin);
}

TEST(Reader, TheHeldKindKeepsTheValuesOfItsOwner) {
  const Recipe named = read("model.residual.norm.kind = 'layer_norm'");
  EXPECT_EQ(named.model, toy::Model{});
  const Recipe unnamed = read("model.residual.norm.momentum = 0.5");
  const auto& norm = std::get<PostNorm>(unnamed.model.residual).norm;
  EXPECT_EQ(std::get<LayerNorm>(norm), (LayerNorm{.epsilon = 1e-6, .momentum = 0.5}));
}

TEST(Reader, AllMistakesOfAFileAreReportedAtOnceInTheOrderOfTheText) {
  EXPECT_EQ(problems_of(R"([train]
stpes = 10
lr = 0.0
files = "x"

[model]
d_model = "wide"
residual = { kind = "admin", output_chnage = "log" }
norm = { kind = "layer_nrom" }
[optimiser]
)"),
            R"(r.toml:2:1: "stpes" is not an option of [train]; did you mean "steps"?
r.toml:3:6: train.lr: found 0.0, expected a number above 0
r.toml:4:9: train.files: found the string "x", expected a list of texts in quotes
r.toml:7:11: model.d_model: found the string "wide", expected a whole number
r.toml:8:30: "output_chnage" is not an option of residual kind "admin"; did you )"
            R"(mean "output_change"?
r.toml:9:17: "layer_nrom" is not a kind of model.norm; did you mean "layer_norm"?
r.toml:10:2: "optimiser" is not a table of the recipe; expected one of seed, title, )"
            R"(outer, model, train)");
}

TEST(Reader, AnOptionInTheWrongPlaceIsToldWhereItBelongs) {
  EXPECT_EQ(problems_of("milestones = [1]"),
            "r.toml:1:1: \"milestones\" is not an option of the recipe; it belongs to [train]");
  EXPECT_EQ(problems_of("model.residual.output_change = 'log'"),
            "r.toml:1:16: \"output_change\" is not an option of residual kind \"post_norm\"; it "
            "belongs to kind \"admin\"");
  EXPECT_EQ(
      problems_of("[train]\ntitle = ''"),
      "r.toml:2:1: \"title\" is not an option of [train]; it belongs to the top of the recipe");
}

TEST(Reader, AValueOutOfItsRangeIsToldTheRange) {
  EXPECT_EQ(problems_of("model.attention.dropout = [1.0, nan]"),
            "r.toml:1:28: model.attention.dropout[0]: found 1.0, expected a number at least 0 and "
            "below 1\n"
            "r.toml:1:33: model.attention.dropout[1]: found nan, expected a number at least 0 and "
            "below 1");
  EXPECT_EQ(problems_of("seed = -1"),
            "r.toml:1:8: seed: found -1, expected a whole number from 0 to 9223372036854775807");
  EXPECT_EQ(problems_of("outer = { kind = 'admin', batches = 3_000_000_000 }"),
            "r.toml:1:37: outer.batches: found 3000000000, expected a whole number from "
            "-2147483648 to 2147483647");
}

TEST(Reader, D16ANumberThatIsNotFiniteIsRefused) {
  EXPECT_EQ(problems_of("train.lr = inf"),
            "r.toml:1:12: train.lr: found inf, expected a number that is finite");
  EXPECT_EQ(problems_of("train.lr = -inf"),
            "r.toml:1:12: train.lr: found -inf, expected a number above 0");
  EXPECT_EQ(problems_of("train.weights = [1.0, +inf]"),
            "r.toml:1:23: train.weights[1]: found inf, expected a number that is finite");
  EXPECT_EQ(problems_of("train.steps = inf"),
            "r.toml:1:15: train.steps: found inf, expected a whole number");
  EXPECT_EQ(problems_of("train.steps = nan"),
            "r.toml:1:15: train.steps: found nan, expected a whole number");
}

TEST(Reader, AValueOfTheWrongTypeIsToldTheRightOne) {
  EXPECT_EQ(problems_of("title = 2020-01-01"),
            "r.toml:1:9: title: found a date or time, expected text in quotes");
  EXPECT_EQ(problems_of("train.steps = 1.5"),
            "r.toml:1:15: train.steps: found 1.5, expected a whole number");
  EXPECT_EQ(problems_of("train.resume = 1"),
            "r.toml:1:16: train.resume: found 1, expected true or false");
  EXPECT_EQ(problems_of("model.norm = 3"),
            "r.toml:1:14: model.norm: found 3, expected a kind in quotes or a table with a kind");
  EXPECT_EQ(problems_of("train = []"), "r.toml:1:9: train: found a list of 0, expected a table");
  EXPECT_EQ(
      problems_of("model.attention.dropout = [0.1]"),
      "r.toml:1:27: model.attention.dropout: found a list of 1, expected a list of 2 numbers");
  EXPECT_EQ(problems_of("model.activation = 'rleu'"),
            "r.toml:1:20: \"rleu\" is not a value of model.activation; did you mean \"relu\"?");
}

}  // namespace
}  // namespace ballast
