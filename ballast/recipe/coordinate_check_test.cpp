#include "ballast/recipe/coordinate_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/base/error.h"

namespace ballast {
namespace {

Recipe of_width_128() {
  Recipe recipe;
  recipe.model = {
      .d_model = 128, .d_ff = 320, .heads = 4, .encoder_layers = 6, .decoder_layers = 3};
  return recipe;
}

TEST(WithWidth, KeepsTheProportionsOfTheRecipe) {
  const Recipe wide = with_width(of_width_128(), 512);
  EXPECT_EQ(wide.model.d_model, 512);
  EXPECT_EQ(wide.model.d_ff, 1280);
  EXPECT_EQ(wide.model.heads, 16);
  EXPECT_EQ(with_width(of_width_128(), 128), of_width_128());
}

TEST(WithWidth, RefusesAPartOfAHead) {
  EXPECT_THAT([] { with_width(of_width_128(), 48); },
              ::testing::ThrowsMessage<RecipeError>(::testing::HasSubstr("multiples of 32")));
}

TEST(WithDepth, KeepsTheProportionOfEncoderAndDecoder) {
  const Recipe deep = with_depth(of_width_128(), 12);
  EXPECT_EQ(deep.model.decoder_layers, 12);
  EXPECT_EQ(deep.model.encoder_layers, 24);
  EXPECT_EQ(with_depth(of_width_128(), 3), of_width_128());
}

}  // namespace
}  // namespace ballast
