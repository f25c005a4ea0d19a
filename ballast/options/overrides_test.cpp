#include "ballast/options/overrides.h"

#include <gtest/gtest.h>

#include "ballast/base/error.h"
#include "ballast/options/load.h"
#include "ballast/testing/toy_recipe.h"

namespace ballast {
namespace {

using toy::Admin;
using toy::Recipe;

Recipe read(std::string_view text, const std::vector<std::string>& overrides) {
  return read_text<Recipe>(text, "r.toml", overrides).value;
}

std::string problems_of(std::string_view text, const std::vector<std::string>& overrides) {
  try {
    read(text, overrides);
  } catch (const RecipeError& error) {
    return error.what();
  }
  return "";
}

TEST(Overrides, AWholeNumberThatIsTooLargeIsNoText) {
  EXPECT_EQ(problems_of("", {"seed=9223372036854775808"}),
            "--set seed=9223372036854775808: found 9223372036854775808, expected a whole number "
            "from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(read("", {"seed=9223372036854775807"}).seed, 9223372036854775807u);
}

TEST(Overrides, AValueIsTomlOrElseText) {
  const Recipe recipe =
      read("", {"title=a b#c", "train.lr=1e-2", "train.resume=false", "train.files=[\"x\", \"y\"]",
                "model.norm=identity", "train.log=runs/log=1", "model.cross={ heads = 2 }"});
  EXPECT_EQ(recipe.title, "a b#c");
  EXPECT_EQ(recipe.train.lr, 0.01);
  EXPECT_FALSE(recipe.train.resume);
  EXPECT_EQ(recipe.train.files, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(recipe.model.norm.index(), 1u);
  EXPECT_EQ(recipe.train.log, "runs/log=1");
  EXPECT_EQ(recipe.model.cross->heads, 2);
}

TEST(Overrides, AValueCannotSmuggleInASecondOption) {
  EXPECT_EQ(read("", {"title=1\nseed = 9"}).title, "1\nseed = 9");
}

TEST(Overrides, TheLastOneWins) { EXPECT_EQ(read("seed = 1", {"seed=2", "seed=3"}).seed, 3u); }

TEST(Overrides, AnOptionOfAKindGivenAsAWordKeepsTheWord) {
  const Recipe recipe = read("outer = 'admin'", {"outer.batches=4"});
  EXPECT_EQ(std::get<Admin>(recipe.outer), (Admin{.batches = 4}));
}

TEST(Overrides, AChoiceSetAsAWholeDropsTheOptionsOfTheFile) {
  const std::string text = "[outer]\nkind = 'admin'\nbatches = 4";
  EXPECT_EQ(read(text, {"outer=post_norm"}).outer, Recipe{}.outer);
  EXPECT_EQ(problems_of(text, {"outer.kind=post_norm"}),
            "r.toml:3:1: \"batches\" is not an option of outer kind \"post_norm\"; it belongs to "
            "kind \"admin\"");
}

TEST(Overrides, MistakesAreReportedAfterThoseOfTheFile) {
  EXPECT_EQ(problems_of("sede = 1", {"train.stpes=200", "trian.steps=1", "seed=x", "seed", "a..b=1",
                                     "train.files=[x]"}),
            R"(r.toml:1:1: "sede" is not an option of the recipe; did you mean "seed"?
--set seed: expected the form table.option=value
--set a..b=1: expected the form table.option=value
--set train.files=[x]: the value is not valid TOML; put the whole in single quotes for the shell, )"
            R"(text inside it in double quotes
--set train.stpes=200: "stpes" is not an option of [train]; did you mean "steps"?
--set trian.steps=1: "trian" is not a table of the recipe; did you mean "train"?
--set seed=x: seed: found the string "x", expected a whole number)");
}

}  // namespace
}  // namespace ballast
