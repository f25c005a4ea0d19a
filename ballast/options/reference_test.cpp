#include "ballast/options/reference.h"

#include <gmock/gmock.h>

#include "ballast/testing/toy_recipe.h"

namespace ballast {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Reference, AnOptionHasTypeDefaultRangeAndMeaning) {
  const std::string page = reference_page<toy::Recipe>();
  EXPECT_THAT(page, HasSubstr("| `lr` | a number | `0.0005` | above 0 | peak learning rate |"));
  EXPECT_THAT(page, HasSubstr("| `patience` | a whole number, or none | `5` | at least 1 |"));
  EXPECT_THAT(page, HasSubstr("| `activation` | one of `relu`, `gelu` | `\"relu\"` |"));
  EXPECT_THAT(page, HasSubstr("| `model` | table [model](#model) |  |  | what is trained |"));
}

TEST(Reference, AKindHasFormulaSourceAndOptions) {
  EXPECT_THAT(reference_page<toy::Recipe>(),
              HasSubstr("### outer = \"admin\"\n\n"
                        "`norm(omega x + f(x)) | profiled`\n\n"
                        "Source: Liu et al. 2020\n\n"
                        "| option | type | default | range | meaning |\n"
                        "|---|---|---|---|---|\n"
                        "| `output_change` | text in quotes | `\"log\"` |  | wanted growth |\n"));
}

TEST(Reference, AChoiceThatServesSeveralOptionsIsDescribedOnce) {
  const std::string page = reference_page<toy::Recipe>();
  EXPECT_EQ(count(page, "= \"layer_norm\"\n"), 1u);
  EXPECT_THAT(page, HasSubstr("| `residual` | choice [outer](#outer) | `\"post_norm\"` |"));
  EXPECT_THAT(page, Not(HasSubstr("## model.residual")));
}

TEST(Reference, ADefaultThatTheOwnerChangesIsShownInFull) {
  EXPECT_THAT(reference_page<toy::Recipe>(),
              HasSubstr("| `{ kind = \"layer_norm\", epsilon = 1e-06, momentum = \"none\" }` |"));
}

}  // namespace
}  // namespace ballast
