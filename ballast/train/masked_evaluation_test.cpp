#include <gtest/gtest.h>

#include <array>

#include "ballast/data/masking.h"
#include "ballast/testing/toy.h"
#include "ballast/train/evaluate.h"

namespace ballast {
namespace {

using testing::toy_vocabulary;

MaskableVocabulary vocabulary() {
  MaskableVocabulary made{.mask = 3,
                          .is_ordinary = std::vector<bool>(toy_vocabulary, true),
                          .begins_word = std::vector<bool>(toy_vocabulary, true)};
  for (int64_t id = 0; id < toy_vocabulary; ++id) {
    made.is_ordinary[id] = id > 3;
    if (id > 3) made.ordinary.push_back(id);
  }
  return made;
}

EncodedCorpus sentences() {
  EncodedCorpus made;
  for (int32_t length = 2; length < 40; ++length) {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < length; ++i) {
      ids.push_back(4 + (i * i + length) % static_cast<int32_t>(toy_vocabulary - 4));
    }
    made.target.add(ids);
  }
  made.masking = std::make_shared<Masking>(MaskingOptions{}, vocabulary(), 1);
  return made;
}

TEST(MaskedEvaluation, CountsTheHiddenTokensThatAreFound) {
  const EncodedCorpus corpus = sentences();
  const ModelOptions options =
      testing::as_kind(ModelKind::masked_lm, testing::toy_options(PreNorm{}));
  const auto model = testing::toy_model(options);
  model->eval();
  const torch::NoGradGuard no_grad;
  double nll = 0;
  int64_t hits = 0, hidden = 0;
  for (int64_t i = 0; i < corpus.count(); ++i) {
    const Batch batch = make_batch(corpus, std::array{i});
    const torch::Tensor rows = model->forward({}, batch.target_input);
    const torch::Tensor log_p = torch::log_softmax(model->logits(rows), 1);
    for (int64_t k = 0; k < batch.predicted.numel(); ++k) {
      const torch::Tensor row = log_p[batch.predicted[k].item<int64_t>()];
      const auto target = batch.target_output[k].item<int64_t>();
      nll -= row[target].item<double>();
      hits += row.argmax().item<int64_t>() == target ? 1 : 0;
      ++hidden;
    }
  }
  const Evaluation found = evaluate(*model, corpus, {.tokens = 100}, {});
  EXPECT_EQ(found.tokens, hidden);
  EXPECT_NEAR(found.nll * static_cast<double>(hidden), nll, 1e-3);
  ASSERT_TRUE(found.accuracy);
  EXPECT_GT(hits, 0);
  EXPECT_DOUBLE_EQ(*found.accuracy, static_cast<double>(hits) / static_cast<double>(hidden));
}

TEST(MaskedEvaluation, OtherModelsHaveNoAccuracy) {
  EncodedCorpus corpus = sentences();
  corpus.masking = {};
  ModelOptions options = testing::as_kind(ModelKind::causal_lm, testing::toy_options(PreNorm{}));
  const auto model = testing::toy_model(options);
  EXPECT_FALSE(evaluate(*model, corpus, {.tokens = 100}, {}).accuracy);
}

}  // namespace
}  // namespace ballast
