#include "ballast/options/load.h"

#include <gmock/gmock.h>

#include <fstream>

#include "ballast/base/error.h"
#include "ballast/options/writer.h"
#include "ballast/testing/toy_recipe.h"

namespace ballast {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using toy::Recipe;

class RecipeFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

  std::string refusal(const std::filesystem::path& path) const {
    try {
      load<Recipe>(path);
    } catch (const RecipeError& error) {
      return error.what();
    }
    return "";
  }

  void TearDown() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".toml");
};

TEST_F(RecipeFile, IsReadWithOverridesOverIt) {
  const std::vector<std::string> overrides{"train.steps=200"};
  const Recipe recipe = load<Recipe>(write("[train]\nsteps = 5\nlr = 1e-3"), overrides).value;
  EXPECT_EQ(recipe.train.steps, 200);
  EXPECT_EQ(recipe.train.lr, 1e-3);
}

TEST_F(RecipeFile, ThatIsNoRecipeIsRefusedWithTheReason) {
  EXPECT_THAT(refusal(path_), EndsWith(".toml: no such file, expected a recipe (TOML)"));
  EXPECT_THAT(refusal(path_.parent_path()), HasSubstr("is a folder, expected a recipe"));
  EXPECT_THAT(refusal(write(" \n")), EndsWith(".toml: is empty, expected a recipe (TOML)"));
  EXPECT_THAT(refusal(write(std::string(1 << 21, '#'))), HasSubstr("is larger than 1 MiB"));
  EXPECT_THAT(refusal(write(std::string("seed = 1\n\0", 10))), HasSubstr(".toml:2:1: "));
  EXPECT_THAT(refusal(write("\xff\xfes\0e\0")), HasSubstr("save the file as UTF-8"));
}

TEST_F(RecipeFile, MayStartWithAByteOrderMarkAndUseWindowsLineEnds) {
  EXPECT_EQ(load<Recipe>(write("\xef\xbb\xbfseed = 3\r\n[train]\r\nsteps = 4\r\n")).value.seed, 3u);
}

TEST(ReadText, AnyByteLostOrChangedIsReadOrRefusedWithAPlace) {
  const std::string text = toml_text(Recipe{});
  for (size_t at = 0; at < text.size(); ++at) {
    std::string lost = text, changed = text;
    lost.erase(at, 1);
    changed[at] = static_cast<char>(changed[at] ^ 0x11);
    for (const std::string& damaged : {lost, changed}) {
      try {
        read_text<Recipe>(damaged, "r.toml");
      } catch (const RecipeError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith("r.toml:"));
      }
    }
  }
}

TEST(Loaded, RemembersWhereEveryOptionWasGiven) {
  const std::vector<std::string> overrides{"train.lr=1"};
  const Loaded<Recipe> loaded =
      read_text<Recipe>("[model]\nattention = { heads = 4 }", "r.toml", overrides);
  EXPECT_EQ(text_of(loaded.places.of("model.attention.heads")), "r.toml:2:15");
  EXPECT_EQ(text_of(loaded.places.of("model.d_model")), "r.toml:1:2");
  EXPECT_EQ(text_of(loaded.places.of("train.lr")), "--set train.lr=1");
  EXPECT_EQ(text_of(loaded.places.of("seed")), "r.toml");
  EXPECT_TRUE(loaded.places.given("model.attention.heads"));
  EXPECT_FALSE(loaded.places.given("model.d_model"));
}

}  // namespace
}  // namespace ballast
