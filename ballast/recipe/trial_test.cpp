#include "ballast/recipe/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/base/error.h"
#include "ballast/recipe/patient.h"

namespace ballast {
namespace {

using testing_doctor::healthy, testing_doctor::Patient, testing_doctor::random_pairs,
    testing_doctor::some_tokenizers;

class Trial : public ::testing::Test {
 protected:
  void SetUp() override {
    recipe_ = healthy().recipe;
    recipe_.train.batch_tokens = 512;
    Adam adam;
    adam.lr = 1e-3;
    recipe_.optimizer = adam;
  }

  std::vector<TriedRemedy> tried(const std::string& finding,
                                 std::function<Recipe(const std::string&)> with) {
    const Examination before = examination_of(recipe_, text_, effort_, torch::kCPU);
    for (const Finding& each : findings(before)) {
      if (each.name != finding) continue;
      return try_remedies(each, {recipe_, text_, before, effort_, torch::kCPU, std::move(with)});
    }
    throw std::logic_error(finding + " was not found");
  }

  Recipe recipe_;
  ExaminedText text_{some_tokenizers(), std::make_shared<EncodedCorpus>(random_pairs(200))};
  ExaminationEffort effort_{.tokens = 512, .sharpness = false, .rehearsal = 10};
};

TEST_F(Trial, ARemedyThatHealsHelps) {
  recipe_.model.scores = UnscaledScores{};
  const auto remedies = tried("attention_not_scaled", [&](const std::string&) {
    Recipe with = recipe_;
    with.model.scores = ParameterizedScores{};
    return with;
  });
  ASSERT_EQ(remedies.size(), 1U);
  EXPECT_TRUE(remedies[0].helps);
  EXPECT_GT(remedies[0].loss, 0);
}

TEST_F(Trial, ARemedyThatLeavesTheFindingDoesNot) {
  recipe_.model.scores = UnscaledScores{};
  const auto remedies = tried("attention_not_scaled", [&](const std::string&) { return recipe_; });
  ASSERT_FALSE(remedies.empty());
  for (const TriedRemedy& each : remedies) EXPECT_FALSE(each.helps);
}

TEST_F(Trial, ARemedyThatIsRefusedSaysWhy) {
  recipe_.model.scores = UnscaledScores{};
  const auto remedies = tried("attention_not_scaled", [](const std::string&) -> Recipe {
    throw RecipeError("contradicts the rest");
  });
  ASSERT_FALSE(remedies.empty());
  EXPECT_EQ(remedies[0].refusal, "contradicts the rest");
  EXPECT_FALSE(remedies[0].helps);
}

TEST_F(Trial, ARehearsalLeavesTheModelAsItWas) {
  const PlannedModel planned = build_model(recipe_, sizes_of(recipe_, text_.tokenizers));
  std::vector<torch::Tensor> before;
  for (const torch::Tensor& each : planned.model->parameters()) before.push_back(each.clone());
  const Examination made = examine(recipe_, planned, text_.corpus, text_.tokenizers, effort_);
  ASSERT_EQ(made.rehearsal->losses.size(), 10U);
  EXPECT_LT(made.rehearsal->losses.back(), made.rehearsal->losses.front());
  const std::vector<torch::Tensor> now = planned.model->parameters();
  for (size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(torch::equal(now[i], before[i]));
}

TEST_F(Trial, ARateThatIsMuchTooLargeDivergesInTheRehearsal) {
  Sgd sgd;
  sgd.lr = 1e4;
  recipe_.optimizer = sgd;
  recipe_.train.clip_norm = 0;
  const Examination made = examination_of(recipe_, text_, effort_, torch::kCPU);
  EXPECT_THAT(findings(made), ::testing::Contains(::testing::Field(
                                  &Finding::name, std::string_view("diverges_in_rehearsal"))));
}

}  // namespace
}  // namespace ballast
