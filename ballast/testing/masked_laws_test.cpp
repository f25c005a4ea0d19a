#include <gtest/gtest.h>

#include <limits>

#include "ballast/data/packed_batch.h"
#include "ballast/testing/toy.h"
#include "ballast/values/calibrate.h"

namespace ballast {
namespace {

using testing::LawCase;
using testing::toy_ids;
using testing::toy_vocabulary;

/// A law of encoders that find hidden tokens, whatever their rows are.
class EveryMaskedModel : public ::testing::TestWithParam<LawCase> {
 protected:
  static LawCase masked_case() {
    LawCase made = GetParam();
    made.options = testing::as_kind(ModelKind::masked_lm, made.options);
    return made;
  }
  std::shared_ptr<Transformer> model() const {
    return testing::moved_toy_model(masked_case(), {}, text_);
  }

  /// Of the sequences of 4, 1 and 5 tokens.
  Batch batch() const {
    return {.target_input = text_,
            .target_output = torch::tensor({7, 5, 9, 4}, torch::kInt64),
            .tokens = 4,
            .predicted = torch::tensor({1, 4, 5, 8}, torch::kInt64)};
  }

  Packed text_ = toy_ids({4, 1, 5}, toy_vocabulary, 6);
};

TEST_P(EveryMaskedModel, GradientsEqualFiniteDifferencesInDouble) {
  const auto made = model();
  made->to(torch::kFloat64);
  const auto loss = [&] {
    return cross_entropy(made->predictions(batch()), {.smoothing = 0.1}).loss;
  };
  EXPECT_LT(testing::gradient_error(*made, loss), 1e-6);
}

TEST_P(EveryMaskedModel, TheLossReadsThePredictedRowsAlone) {
  const auto made = model();
  const torch::Tensor rows = made->forward({}, text_).index_select(0, batch().predicted);
  const torch::Tensor log_p = torch::log_softmax(made->logits(rows), 1);
  const torch::Tensor expected = -log_p.gather(1, batch().target_output.unsqueeze(1)).sum();
  const CrossEntropy found = cross_entropy(made->predictions(batch()), {});
  EXPECT_EQ(found.tokens, 4);
  EXPECT_NEAR(found.loss.item<double>(), expected.item<double>(), 1e-4);
}

TEST_P(EveryMaskedModel, ALaterTokenIsSeenAndNoOtherSentence) {
  const auto made = model();
  const torch::Tensor before = made->forward({}, text_);
  constexpr int64_t unused = 3;  // no toy sentence holds it
  made->target_embedding->weight.detach()[unused].fill_(std::numeric_limits<float>::quiet_NaN());
  Packed spoiled{text_.tokens.clone(), text_.segments};
  spoiled.tokens[9] = unused;  // the last of the third
  const torch::Tensor after = made->forward({}, spoiled);
  EXPECT_TRUE(torch::equal(before.slice(0, 0, 5), after.slice(0, 0, 5)));
  EXPECT_TRUE(after[5].isnan().any().item<bool>());
}

TEST_P(EveryMaskedModel, CalibratingTwiceSetsTheSame) {
  const auto made = testing::toy_model(masked_case());
  const Profile once = calibrate(*made, {}, text_), twice = calibrate(*made, {}, text_);
  ASSERT_EQ(once.size(), 4U);  // two connections in each of two blocks
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].site.stack, Stack::encoder);
    EXPECT_EQ(once[i].omega, twice[i].omega);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryMaskedModel, ::testing::ValuesIn(testing::all_cases()),
                         [](const auto& info) {
                           return info.param.name + "_" + std::to_string(info.index);
                         });

}  // namespace
}  // namespace ballast
