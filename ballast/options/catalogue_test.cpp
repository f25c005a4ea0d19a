#include "ballast/options/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ballast/testing/toy_recipe.h"

namespace ballast {
namespace {

TEST(Catalogue, ListsEveryKindOnceWithItsOptions) {
  const std::vector<CatalogueEntry> found = catalogue(schema_of<toy::Recipe>());
  std::vector<std::string> names;
  for (const CatalogueEntry& each : found) {
    names.push_back(each.list + "." + std::string(each.info.name));
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"outer.admin", "outer.post_norm"}));
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  for (const CatalogueEntry& each : found) {
    if (each.info.name != "admin") continue;
    EXPECT_EQ(each.options->options.front().name, "output_change");
  }
}

}  // namespace
}  // namespace ballast
