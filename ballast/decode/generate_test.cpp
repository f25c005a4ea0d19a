#include "ballast/decode/generate.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ballast/base/error.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using testing::toy_vocabulary;

const TextVocabulary vocabulary{toy_vocabulary, 3, 2, {0, 1, 2}};

std::shared_ptr<Transformer> language_model(const PositionChoice& positions = RotaryPositions{}) {
  ModelOptions options = testing::toy_options(PreNorm{});
  options.kind = ModelKind::causal_lm;
  options.d_model = 48;
  options.d_ff = 96;
  options.heads = 4;
  options.key_value_heads = 2;
  options.positions = positions;
  auto model = testing::toy_model(options);
  model->target_embedding->weight.detach().mul_(0.3);  // flat enough that draws differ
  return model;
}

/// Of lengths on both sides of what few rows are.
std::vector<std::vector<int64_t>> prompts() {
  std::vector<std::vector<int64_t>> all;
  for (const int64_t length : {0, 1, 5, 15, 16, 17, 40, 3, 130}) {
    all.push_back({2});
    for (int64_t i = 0; i < length; ++i) all.back().push_back(4 + (i * i + length) % 7);
  }
  return all;
}

std::vector<std::vector<int64_t>> texts_of(const std::vector<Generated>& outputs) {
  std::vector<std::vector<int64_t>> texts;
  for (const Generated& each : outputs) texts.push_back(each.tokens);
  return texts;
}

TEST(Generate, GreedyIsTheLikeliestTokenOfTheWholeSequenceAtEveryStep) {
  const auto model = language_model();
  const auto outputs =
      generate(*model, prompts(), {.max_new_tokens = 6, .temperature = 0}, vocabulary);
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<int64_t> ids = prompts()[i];
    for (const int64_t token : outputs[i].tokens) {
      const std::vector<int64_t> lengths{static_cast<int64_t>(ids.size())};
      const torch::Tensor hidden =
          model->forward({}, {torch::tensor(ids, torch::kInt64), Segments::packed(lengths)});
      const torch::Tensor logits = model->logits(hidden).select(0, lengths[0] - 1);
      for (const int64_t never : vocabulary.never) logits[never] = -1e9;
      EXPECT_EQ(token, logits.argmax().item<int64_t>()) << i;
      ids.push_back(token);
    }
  }
}

TEST(Generate, IsTheSameForAnyThreadsAndBatchesAndAnotherForAnotherSeed) {
  const int before = at::get_num_threads();
  for (const Precision precision : {Precision::float32, Precision::bf16}) {
    const auto model = language_model();
    const auto generated = [&](int threads, int64_t batch, int64_t seed) {
      at::set_num_threads(threads);
      return texts_of(generate(*model, prompts(),
                               {.max_new_tokens = 12,
                                .temperature = 1.3,
                                .top_p = 0.95,
                                .samples = 3,
                                .seed = seed,
                                .ignore_end = true,
                                .batch = batch,
                                .precision = precision},
                               vocabulary));
    };
    const auto wanted = generated(1, 1, 1);
    EXPECT_EQ(generated(2, 16, 1), wanted);
    EXPECT_EQ(generated(3, 5, 1), wanted);
    EXPECT_NE(generated(1, 16, 2), wanted);
    EXPECT_NE(wanted[0], wanted[1]);  // two samples of one prompt
  }
  at::set_num_threads(before);
}

TEST(Generate, EndsWithTheEndPieceAndGoesOnWhereItIsIgnored) {
  const auto model = language_model();
  GenerateOptions options{.max_new_tokens = 30, .temperature = 2, .seed = 3};
  int64_t ended = 0, passed = 0;
  for (const Generated& each : generate(*model, prompts(), options, vocabulary)) {
    EXPECT_EQ(std::count(each.tokens.begin(), each.tokens.end(), 3), 0);
    EXPECT_EQ(each.ending == Ending::end, each.tokens.size() < 30);
    ended += each.ending == Ending::end ? 1 : 0;
  }
  EXPECT_GT(ended, 0);
  options.ignore_end = true;
  for (const Generated& each : generate(*model, prompts(), options, vocabulary)) {
    EXPECT_EQ(each.tokens.size(), 30U);
    passed += std::count(each.tokens.begin(), each.tokens.end(), 3);
  }
  EXPECT_GT(passed, 0);
}

TEST(Generate, PiecesThatAreNoTextAreNeverChosen) {
  const auto model = language_model();
  const TextVocabulary few{9, 3, 2, {0, 1, 2, 5, 7}};  // of 11 ids
  for (const Generated& each :
       generate(*model, prompts(), {.max_new_tokens = 50, .temperature = 5}, few)) {
    for (const int64_t token : each.tokens) {
      EXPECT_TRUE(token == 4 || token == 6 || token == 8) << token;
    }
  }
}

TEST(Generate, AListenerHearsEveryTokenAndEndsAnOutput) {
  const auto model = language_model();
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> heard;
  int64_t done = 0;
  const auto outputs = generate(
      *model, prompts(), {.max_new_tokens = 9, .samples = 2, .ignore_end = true, .batch = 4},
      vocabulary,
      [&](const OutputPlace& place, int64_t token) {
        auto& tokens = heard[{place.prompt, place.sample}];
        tokens.push_back(token);
        return place.prompt != 2 || tokens.size() < 4;
      },
      [&](const OutputPlace&, const Generated&) { ++done; });
  EXPECT_EQ(done, 18);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto prompt = static_cast<int64_t>(i / 2), sample = static_cast<int64_t>(i % 2);
    EXPECT_EQ(outputs[i].tokens, (heard[{prompt, sample}]));
    EXPECT_EQ(outputs[i].tokens.size(), prompt == 2 ? 4U : 9U);
    EXPECT_EQ(outputs[i].ending, prompt == 2 ? Ending::stopped : Ending::length);
  }
}

TEST(Generate, EndsAtTheLastPositionAndRefusesAPromptBeyondIt) {
  const auto model = language_model(LearnedPositions{.max_length = 8});
  const GenerateOptions options{.max_new_tokens = 50, .ignore_end = true};
  const auto outputs = generate(*model, {{2, 4, 5}, {2}}, options, vocabulary);
  EXPECT_EQ(outputs[0].tokens.size(), 6U);  // the last is fed to nothing and needs no position
  EXPECT_EQ(outputs[1].tokens.size(), 8U);
  EXPECT_EQ(outputs[0].ending, Ending::positions);
  EXPECT_THROW(generate(*model, {{2}, {2, 4, 5, 6, 7, 8, 9, 4, 5}}, options, vocabulary),
               DataError);
}

TEST(Generate, LogitsThatAreNoNumbersAreAnError) {
  const auto model = language_model();
  model->target_embedding->weight.detach().fill_(std::nan(""));
  EXPECT_THROW(generate(*model, {{2}}, {}, vocabulary), DataError);
}

}  // namespace
}  // namespace ballast
