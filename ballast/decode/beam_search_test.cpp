#include "ballast/decode/beam_search.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ballast/decode/translate.h"
#include "ballast/testing/decoding.h"

namespace ballast {
namespace {

using testing::forced_log_probability;
using testing::sharp_toy_model;
using testing::toy_ids;
using testing::toy_vocabulary;

TEST(BeamSearch, LogProbabilitiesAreThoseOfATeacherForcedPass) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({5}, toy_vocabulary, 1);
  const DecodeOptions options{.beam = 3, .max_extra = 4};
  const auto results = beam_search(*model, source, options);
  for (const Hypothesis& found : results[0]) {
    EXPECT_NEAR(found.log_probability, forced_log_probability(*model, source, found), 1e-4);
  }
}

TEST(BeamSearch, ASentenceIsTranslatedTheSameAloneAndInABatch) {
  const auto model = sharp_toy_model();
  const Packed both = toy_ids({5, 3}, toy_vocabulary, 1);
  const Packed alone{both.tokens.slice(0, 5, 8), Segments::packed(std::array{int64_t{3}})};
  const DecodeOptions options{.beam = 3, .max_extra = 4};
  const auto together = beam_search(*model, both, options)[1];
  const auto separate = beam_search(*model, alone, options)[0];
  ASSERT_EQ(together.size(), separate.size());
  for (size_t i = 0; i < together.size(); ++i) EXPECT_EQ(together[i].tokens, separate[i].tokens);
}

TEST(BeamSearch, AWideBeamFindsTheBestOfAllShortOutputs) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({2}, toy_vocabulary, 4);
  // Outputs of at most two tokens: eight usable pieces, so 8 + 64 hypotheses.
  const DecodeOptions wide{.beam = 80, .alpha = 0, .max_ratio = 0, .max_extra = 3};
  const Hypothesis best = beam_search(*model, source, wide)[0].front();
  double exhaustive = -1e9;
  std::vector<int64_t> pieces{1};
  for (int64_t piece = 4; piece < toy_vocabulary; ++piece) pieces.push_back(piece);
  for (const int64_t first : pieces) {
    exhaustive = std::max(exhaustive, forced_log_probability(*model, source, {.tokens = {first}}));
    for (const int64_t second : pieces) {
      exhaustive =
          std::max(exhaustive, forced_log_probability(*model, source, {.tokens = {first, second}}));
    }
  }
  EXPECT_NEAR(best.log_probability, exhaustive, 1e-4);
}

TEST(BeamSearch, NoOutputIsEmptyUnlessThatIsAllowed) {
  const auto model = sharp_toy_model();
  model->target_embedding->weight.detach()[3] = model->target_embedding->weight[3] * 0 + 5;
  const Packed source = toy_ids({4, 2}, toy_vocabulary, 2);
  for (const auto& found : beam_search(*model, source, {.beam = 2})) {
    for (const Hypothesis& each : found) EXPECT_FALSE(each.tokens.empty());
  }
}

TEST(BeamSearch, TheLongestOutputEndsByForce) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({6}, toy_vocabulary, 3);
  const DecodeOptions options{.beam = 2, .max_ratio = 0, .max_extra = 3};
  const auto results = beam_search(*model, source, options);
  for (const Hypothesis& found : results[0]) {
    EXPECT_LE(found.tokens.size(), 2U);
  }
}

TEST(Translate, ResultsComeInTheOrderOfTheSourcesAndEmptySourcesGiveNone) {
  const auto model = sharp_toy_model();
  const std::vector<std::vector<int64_t>> sources{{4, 5, 3}, {}, {6, 7, 8, 9, 3}, {3}};
  const auto found = translate(*model, sources, {.beam = 2, .max_extra = 4, .batch_tokens = 8});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_FALSE(found[0].empty());
  EXPECT_TRUE(found[1].empty());
  EXPECT_FALSE(found[2].empty());
  EXPECT_TRUE(found[3].empty());
  const Packed third{torch::tensor(sources[2], torch::kInt64),
                     Segments::packed(std::array{int64_t{5}})};
  EXPECT_EQ(found[2][0].tokens,
            beam_search(*model, third, {.beam = 2, .max_extra = 4})[0][0].tokens);
}

TEST(Translate, GivesTheSameForAnyNumberOfThreadsAndAnyBatches) {
  const auto model = sharp_toy_model();
  std::vector<std::vector<int64_t>> sources;
  for (int64_t i = 0; i < 40; ++i) sources.emplace_back(2 + i * 7 % 13, 4 + i % 7);
  const auto translated = [&](int threads, int64_t batch_tokens) {
    at::set_num_threads(threads);
    return translate(*model, sources, {.beam = 3, .max_extra = 4, .batch_tokens = batch_tokens});
  };
  const int before = at::get_num_threads();
  const auto wanted = translated(1, 1'000'000);
  for (const auto& [threads, batch_tokens] : {std::pair{2, 1'000'000}, {2, 90}, {3, 1}}) {
    const auto found = translated(threads, batch_tokens);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].size(), wanted[i].size());
      for (size_t k = 0; k < found[i].size(); ++k) {
        EXPECT_EQ(found[i][k].tokens, wanted[i][k].tokens);
        EXPECT_NEAR(found[i][k].score, wanted[i][k].score, 1e-5);
      }
    }
  }
  at::set_num_threads(before);
}

TEST(Translate, TellsItsProgressOnceForEveryBatch) {
  const auto model = sharp_toy_model();
  const std::vector<std::vector<int64_t>> sources(6, {4, 5, 3});
  std::vector<int64_t> told;
  translate(*model, sources, {.beam = 2, .max_extra = 4, .batch_tokens = 12},
            [&](int64_t done) { told.push_back(done); });
  EXPECT_EQ(told, (std::vector<int64_t>{2, 4, 6}));
}

TEST(Hypothesis, BothLengthPenaltiesHaveTheirFormula) {
  EXPECT_DOUBLE_EQ(hypothesis_score(-6, 4, {.alpha = 0.5}), -3);
  EXPECT_DOUBLE_EQ(hypothesis_score(-6, 7, {.length_penalty = LengthPenalty::gnmt, .alpha = 1}),
                   -3);
  EXPECT_EQ(longest_output(10, {.max_ratio = 1.5, .max_extra = 5}), 20);
}

}  // namespace
}  // namespace ballast
