#include "ballast/options/document.h"

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

std::string problem(std::string_view text) {
  return text_of(parse_document(text, "r.toml").problems);
}

TEST(Document, AMistakeOfSyntaxIsToldWithItsPlace) {
  EXPECT_EQ(problem("a = 1\nb = admin"),
            "r.toml:2:5: not valid TOML: parsing value: could not determine value type; a word "
            "stands in double quotes, a number is written 8000 or 1e-3");
  EXPECT_EQ(problem("[t\n"),
            "r.toml:1:3: not valid TOML: parsing table header: expected ']', saw '\\n'");
  EXPECT_EQ(problem("a = 1\na = 2"),
            "r.toml:2:5: not valid TOML: parsing key-value pair: cannot redefine existing integer "
            "'a'");
}

TEST(Document, BytesThatAreNotUtf8AreCalledThat) {
  EXPECT_EQ(problem("a = \"\xff\""),
            "r.toml:1:5: found bytes that are not UTF-8, expected text; save the file as UTF-8");
}

TEST(Document, NestingWithoutEndIsRefusedRatherThanFollowed) {
  std::string name = "a";
  for (int part = 0; part < 100000; ++part) name += ".a";
  EXPECT_EQ(problem("b = 1\n" + name + " = 1"), "r.toml:2:1: found a name of more than 250 parts");
  EXPECT_NE(problem("[" + name + "]"), "");
  EXPECT_NE(problem("b = { " + name + " = 1 }"), "");
  EXPECT_NE(problem("b = " + std::string(100000, '[')), "");
}

TEST(Document, EveryTruncationOfATextIsReadOrRefused) {
  const std::string text = "a = [1, 2.5e-3]\n[b.\"c d\"]\ne = { f = '''x''', g = 2020-01-01 }\n";
  ASSERT_EQ(problem(text), "");
  for (size_t length = 0; length < text.size(); ++length) {
    const Document document = parse_document(text.substr(0, length), "r.toml");
    EXPECT_TRUE(document.problems.empty() || document.root.empty()) << length;
  }
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

TEST(Overrides, AnOptionOfWhatHoldsNoneIsToldAtTheOverride) {
  EXPECT_EQ(problems_of("seed = 1\n[train]\nsteps = 2", {"seed.x=1", "train.steps.y.z=1"}),
            "--set seed.x=1: seed: found a table, expected a whole number\n"
            "--set train.steps.y.z=1: train.steps: found a table, expected a whole number");
}

TEST(Overrides, ANameIsNotRead) {
  EXPECT_EQ(
      problems_of("", {"a'b=1", "a\x01=1", "a.\\n=1"}),
      "--set a'b=1: expected the form table.option=value\n"
      "--set a\x01=1: expected the form table.option=value\n"
      "--set a.\\n=1: \"a\" is not a table of the recipe; expected one of seed, title, outer, "
      "model, train");
}

TEST(Overrides, AChoiceSetAsAWholeDropsTheOptionsOfTheFile) {
  const std::string text = "[outer]\nkind = 'admin'\nbatches = 4";
  EXPECT_EQ(read(text, {"outer=post_norm"}).outer, Recipe{}.outer);
  EXPECT_EQ(problems_of(text, {"outer.kind=post_norm"}),
            "r.toml:3:1: \"batches\" is not an option of outer kind \"post_norm\"; it belongs to "
            "kind \"admin\"");
}

TEST(Overrides, MistakesAreReportedInOrderAfterThoseOfTheFile) {
  EXPECT_EQ(problems_of("sede = 1", {"train.stpes=200", "trian.steps=1", "seed=x", "seed", "a..b=1",
                                     "train.files=[x]"}),
            R"(r.toml:1:1: "sede" is not an option of the recipe; did you mean "seed"?
--set train.stpes=200: "stpes" is not an option of [train]; did you mean "steps"?
--set trian.steps=1: "trian" is not a table of the recipe; did you mean "train"?
--set seed=x: seed: found the string "x", expected a whole number
--set seed: expected the form table.option=value
--set a..b=1: expected the form table.option=value
--set train.files=[x]: the value is not valid TOML; put the whole in single quotes for the shell, )"
            R"(text inside it in double quotes)");
}

}  // namespace
}  // namespace ballast
