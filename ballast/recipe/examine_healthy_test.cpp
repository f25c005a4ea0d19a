#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/recipe/patient.h"

namespace ballast {
namespace {

using testing_doctor::found_in, testing_doctor::healthy, testing_doctor::Patient;

struct Healthy {
  std::string name;
  std::function<void(Recipe&)> make;
};

std::vector<Healthy> healthy_recipes() {
  std::vector<Healthy> all;
  const auto add = [&](std::string name, std::function<void(Recipe&)> make) {
    all.push_back({std::move(name), std::move(make)});
  };
  const std::vector<ResidualChoice> schemes = {Admin{},    PreNorm{},    DeepNorm{}, ReZero{},
                                               SkipInit{}, LayerScale{}, SubNorm{},  PeriNorm{}};
  for (const ResidualChoice& scheme : schemes) {
    for (const int64_t depth : {2, 12}) {
      add(std::string(info_of(scheme).name) + std::to_string(depth), [=](Recipe& recipe) {
        recipe.model.residual = scheme;
        recipe.model.encoder_layers = recipe.model.decoder_layers = depth;
      });
    }
    add(std::string(info_of(scheme).name) + "_causal", [=](Recipe& recipe) {
      recipe.model.kind = ModelKind::causal_lm;
      recipe.model.residual = scheme;
      recipe.model.decoder_layers = 6;
    });
  }
  add("post_norm2", [](Recipe& recipe) { recipe.model.residual = PostNorm{}; });
  add("pre_norm60", [](Recipe& recipe) {
    recipe.model.residual = PreNorm{};
    recipe.model.encoder_layers = 60;
    recipe.model.decoder_layers = 12;
  });
  return all;
}

class HealthyRecipes : public testing::TestWithParam<Healthy> {};

TEST_P(HealthyRecipes, GiveNoAlarm) {
  Patient patient = healthy();
  GetParam().make(patient.recipe);
  for (const Finding& each : found_in(patient)) {
    EXPECT_EQ(each.severity, Severity::note)
        << each.name << " at " << each.evidence.where << ": " << each.evidence.measured << " for "
        << each.evidence.expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Doctor, HealthyRecipes, testing::ValuesIn(healthy_recipes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ballast
