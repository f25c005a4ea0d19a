#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "ballast/testing/toy.h"
#include "ballast/values/calibrate.h"

namespace ballast {
namespace {

using testing::LawCase;
using testing::toy_ids;
using testing::toy_model;
using testing::toy_vocabulary;

const std::vector<int64_t> source_lengths{3, 1, 4}, target_lengths{2, 5, 3};

torch::Tensor loss_of(const Transformer& model, const Packed& source, const Packed& target) {
  const torch::Tensor hidden = model.forward(source, target);
  return cross_entropy(model.output->against(hidden, target.tokens), {.smoothing = 0.1}).loss;
}

/// A law that holds for every row of every list, whatever it is.
class EveryModel : public ::testing::TestWithParam<LawCase> {
 protected:
  std::shared_ptr<Transformer> calibrated(const LawCase& each) {
    return testing::moved_toy_model(each, source_, target_);
  }

  Packed source_ = toy_ids(source_lengths, toy_vocabulary, 1);
  Packed target_ = toy_ids(target_lengths, toy_vocabulary, 2);
};

TEST_P(EveryModel, GradientsEqualFiniteDifferencesInDouble) {
  auto model = calibrated(GetParam());
  model->to(torch::kFloat64);
  EXPECT_LT(testing::gradient_error(*model, [&] { return loss_of(*model, source_, target_); }),
            1e-6);
}

TEST_P(EveryModel, C47AChangedTokenChangesNothingBeforeIt) {
  auto model = calibrated(GetParam());
  const torch::Tensor before = model->logits(model->forward(source_, target_));
  Packed changed = target_;
  changed.tokens = target_.tokens.clone();
  changed.tokens[4] = changed.tokens[4].item<int64_t>() == 5 ? 6 : 5;  // third token of the second
  const torch::Tensor after = model->logits(model->forward(source_, changed));
  EXPECT_TRUE(torch::equal(before.slice(0, 0, 4), after.slice(0, 0, 4)));
  EXPECT_TRUE(torch::equal(before.slice(0, 7), after.slice(0, 7)));
  EXPECT_FALSE(torch::equal(before[4], after[4]));
}

/// An id that no toy sentence holds, with a row of the table that is not a number.
int64_t spoiled_id(const Embedding& embedding) {
  constexpr int64_t unused = 3;
  embedding.weight.detach()[unused].fill_(std::numeric_limits<float>::quiet_NaN());
  return unused;
}

Packed with_token(const Packed& packed, int64_t place, int64_t id) {
  Packed changed{packed.tokens.clone(), packed.segments};
  changed.tokens[place] = id;
  return changed;
}

TEST_P(EveryModel, NotANumberInATokenReachesNothingBeforeIt) {
  auto model = calibrated(GetParam());
  const torch::Tensor before = model->forward(source_, target_);
  const Packed spoiled = with_token(target_, 4, spoiled_id(*model->target_embedding));
  const torch::Tensor after = model->forward(source_, spoiled);
  EXPECT_TRUE(torch::equal(before.slice(0, 0, 4), after.slice(0, 0, 4)));
  EXPECT_TRUE(torch::equal(before.slice(0, 7), after.slice(0, 7)));
  EXPECT_TRUE(after[4].isnan().any().item<bool>());
}

TEST_P(EveryModel, NotANumberInASourceReachesNoOtherSentence) {
  auto model = calibrated(GetParam());
  const torch::Tensor before = model->forward(source_, target_);
  const Packed spoiled = with_token(source_, 0, spoiled_id(*model->source_embedding));
  const torch::Tensor after = model->forward(spoiled, target_);
  EXPECT_TRUE(torch::equal(before.slice(0, 2), after.slice(0, 2)));
  EXPECT_TRUE(after[0].isnan().any().item<bool>());
}

TEST_P(EveryModel, StepByStepDecodingEqualsTheWholeSentence) {
  auto model = calibrated(GetParam());
  const Packed target = toy_ids({4, 4, 4}, toy_vocabulary, 3);
  const torch::Tensor whole = model->forward(source_, target);
  DecodeState state = model->start(model->encode(source_), 1);
  for (int64_t t = 0; t < 4; ++t) {
    const torch::Tensor rows = torch::arange(3) * 4 + t;
    const torch::Tensor stepped = model->step(target.tokens.index_select(0, rows), state);
    EXPECT_TRUE(torch::allclose(stepped, whole.index_select(0, rows), 1e-4, 1e-5)) << "step " << t;
  }
}

TEST_P(EveryModel, ASentenceDoesNotSeeItsNeighboursInTheBatch) {
  auto model = calibrated(GetParam());
  const torch::Tensor together = model->forward(source_, target_);
  const Packed lone_source{source_.tokens.slice(0, 4, 8), Segments::packed(std::array{int64_t{4}})};
  const Packed lone_target{target_.tokens.slice(0, 7, 10),
                           Segments::packed(std::array{int64_t{3}})};
  const torch::Tensor alone = model->forward(lone_source, lone_target);
  EXPECT_TRUE(torch::allclose(alone, together.slice(0, 7, 10), 1e-4, 1e-5));
}

TEST_P(EveryModel, CalibratingTwiceSetsTheSame) {
  auto model = toy_model(GetParam());
  const Profile once = calibrate(*model, source_, target_);
  const Profile twice = calibrate(*model, source_, target_);
  ASSERT_EQ(once.size(), 10U);
  for (size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].omega, twice[i].omega);
}

TEST_P(EveryModel, C14NoTwoMatricesShareValuesAtTheStart) {
  auto model = toy_model(GetParam());
  std::vector<InventoryEntry> drawn;
  for (const PlannedParameter& each : plan(*model, {.init = GetParam().init}).parameters) {
    if (!is_vector(each.entry.facts.role) && !each.draw.is_constant()) drawn.push_back(each.entry);
  }
  EXPECT_GE(drawn.size(), 1U);  // tables at least
  for (size_t i = 0; i < drawn.size(); ++i) {
    for (size_t j = i + 1; j < drawn.size(); ++j) {
      EXPECT_FALSE(torch::equal(drawn[i].tensor, drawn[j].tensor))
          << drawn[i].name << " equals " << drawn[j].name;
    }
  }
}

std::string case_name(const ::testing::TestParamInfo<LawCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Schemes, EveryModel, ::testing::ValuesIn(testing::scheme_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Norms, EveryModel, ::testing::ValuesIn(testing::norm_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(QueryKeyNorms, EveryModel, ::testing::ValuesIn(testing::query_key_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Positions, EveryModel, ::testing::ValuesIn(testing::position_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Activations, EveryModel, ::testing::ValuesIn(testing::activation_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Inits, EveryModel, ::testing::ValuesIn(testing::init_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Scores, EveryModel, ::testing::ValuesIn(testing::score_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Attentions, EveryModel, ::testing::ValuesIn(testing::attention_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Shapes, EveryModel, ::testing::ValuesIn(testing::shape_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Weights, EveryModel, ::testing::ValuesIn(testing::weight_cases()),
                         case_name);

}  // namespace
}  // namespace ballast
