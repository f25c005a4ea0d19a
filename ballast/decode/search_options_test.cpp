// What the options of decoding forbid, and several models that vote.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ballast/base/error.h"
#include "ballast/decode/translate.h"
#include "ballast/testing/decoding.h"

namespace ballast {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;
using testing::forced_log_probability;
using testing::sharp_toy_model;
using testing::toy_ids;
using testing::toy_vocabulary;

/// Every output of exactly `length` usable pieces.
std::vector<std::vector<int64_t>> outputs_of(int64_t length) {
  std::vector<std::vector<int64_t>> all{{}};
  for (int64_t i = 0; i < length; ++i) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& each : all) {
      for (int64_t piece = 1; piece < toy_vocabulary; ++piece) {
        if (piece == 2 || piece == 3) continue;
        longer.push_back(each);
        longer.back().push_back(piece);
      }
    }
    all = std::move(longer);
  }
  return all;
}

TEST(BeamSearch, NoOutputIsShorterThanAskedFor) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({4, 2, 9}, toy_vocabulary, 2);
  const auto shortest = [&](const DecodeOptions& options) {
    std::array<size_t, 3> least{};
    const auto found = beam_search(*model, source, options);
    for (size_t i = 0; i < least.size(); ++i) {
      least[i] = found[i].front().tokens.size();
      for (const Hypothesis& each : found[i]) least[i] = std::min(least[i], each.tokens.size());
    }
    return least;
  };
  // So wide a beam keeps every output of one and of two pieces.
  DecodeOptions options{.beam = 100, .max_ratio = 0, .max_extra = 3};
  EXPECT_THAT(shortest(options), Each(Eq(1U)));
  options.min_ratio = 0.25;
  EXPECT_THAT(shortest(options), ElementsAre(1U, 1U, 2U));
  options.min_length = 2;
  EXPECT_THAT(shortest(options), Each(Eq(2U)));
}

TEST(BeamSearch, ALeastLengthBeyondTheLongestOutputGivesWay) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({3}, toy_vocabulary, 2);
  const DecodeOptions options{.beam = 2, .max_ratio = 1, .max_extra = 1, .min_length = 50};
  const auto found = beam_search(*model, source, options)[0];
  ASSERT_FALSE(found.empty());
  for (const Hypothesis& each : found) EXPECT_EQ(each.tokens.size(), 3U);
}

TEST(BeamSearch, AWideBeamFindsTheBestOutputThatRepeatsNothing) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({2}, toy_vocabulary, 4);
  DecodeOptions wide{.beam = 600, .alpha = 0, .max_ratio = 0, .max_extra = 4, .min_length = 3};
  const auto repeats = [](const std::vector<int64_t>& y, int64_t n) {
    return n == 1 ? y[0] == y[1] || y[0] == y[2] || y[1] == y[2] : y[0] == y[1] && y[1] == y[2];
  };
  std::vector<std::pair<double, std::vector<int64_t>>> ranked;
  for (const auto& tokens : outputs_of(3)) {
    ranked.emplace_back(forced_log_probability(*model, source, {.tokens = tokens}), tokens);
  }
  std::sort(ranked.rbegin(), ranked.rend());
  // Of 8^3 outputs 8 * 7 * 6 have three different pieces, and all but 8 have two.
  for (const auto& [n, count] : {std::pair{1, 336U}, {2, 504U}}) {
    const auto best = std::find_if(ranked.begin(), ranked.end(), [&, least = n](const auto& each) {
      return !repeats(each.second, least);
    });
    wide.no_repeat_ngram = n;
    const auto found = beam_search(*model, source, wide)[0];
    EXPECT_EQ(found.size(), count);
    EXPECT_EQ(found.front().tokens, best->second);
    EXPECT_NEAR(found.front().log_probability, best->first, 1e-4);
  }
}

TEST(BeamSearch, ASentenceThatMayNotGoOnEnds) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({6}, toy_vocabulary, 3);
  // Eight usable pieces, each once.
  const auto found = beam_search(
      *model, source, {.beam = 2, .max_extra = 30, .min_length = 20, .no_repeat_ngram = 1})[0];
  ASSERT_FALSE(found.empty());
  for (const Hypothesis& each : found) EXPECT_EQ(each.tokens.size(), 8U);
}

TEST(BeamSearch, TheUnknownPieceIsChosenUnlessForbidden) {
  const auto model = sharp_toy_model();
  const auto holds_unknown = [](const std::vector<Hypothesis>& found) {
    return std::any_of(found.begin(), found.end(), [](const Hypothesis& each) {
      return std::count(each.tokens.begin(), each.tokens.end(), 1) > 0;
    });
  };
  const Packed source = toy_ids({5}, toy_vocabulary, 1);
  DecodeOptions options{.beam = 9, .max_ratio = 0, .max_extra = 2};  // finds all of one token
  EXPECT_TRUE(holds_unknown(beam_search(*model, source, options)[0]));
  options.forbid_unknown = true;
  EXPECT_FALSE(holds_unknown(beam_search(*model, source, options)[0]));
}

TEST(BeamSearch, D06EndsAtTheLastPositionOfTheModel) {
  ModelOptions options = testing::toy_options(PreNorm{});
  options.positions = LearnedPositions{.max_length = 6};
  const auto model = testing::toy_model(options);
  const Packed sources = toy_ids({6, 2}, toy_vocabulary, 5);
  const DecodeOptions decode{.beam = 3, .max_ratio = 5, .min_length = 40};
  for (const auto& found : beam_search(*model, sources, decode)) {
    ASSERT_FALSE(found.empty());
    // Begin and five tokens have positions; after them the end is forced.
    for (const Hypothesis& each : found) EXPECT_EQ(each.tokens.size(), 5U);
  }
  Sources longer{{4, 3}, {4, 5, 6, 7, 8, 9, 3}};
  EXPECT_THROW(translate(*model, longer, {}), DataError);
  longer[1].erase(longer[1].begin());
  EXPECT_EQ(translate(*model, longer, {}).size(), 2U);
}

std::vector<Hypothesis> voted(std::vector<const Transformer*> models, const Packed& source,
                              const DecodeOptions& options) {
  return search({models, source}, options)[0];
}

TEST(Ensemble, OfAModelWithItselfIsTheModel) {
  const auto model = sharp_toy_model();
  const Packed source = toy_ids({5}, toy_vocabulary, 1);
  const DecodeOptions options{.beam = 3, .max_extra = 4};
  const auto alone = beam_search(*model, source, options)[0];
  const auto twice = voted({model.get(), model.get()}, source, options);
  ASSERT_EQ(twice.size(), alone.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(twice[i].tokens, alone[i].tokens);
    EXPECT_NEAR(twice[i].log_probability, alone[i].log_probability, 1e-5);
  }
}

TEST(Ensemble, OfDifferentArchitecturesHasTheMeanOfTheirProbabilities) {
  const auto model = sharp_toy_model();
  ModelOptions options = testing::toy_options(PostNorm{});
  options.d_model = 12;
  options.decoder_layers = 1;
  const auto other = testing::toy_model(options, 5);
  const Packed source = toy_ids({2}, toy_vocabulary, 4);
  // One token and the end piece: two steps, and the second's probability hangs on the first.
  const DecodeOptions one{.beam = 9, .alpha = 0, .max_ratio = 0, .max_extra = 2};
  const auto probability = [&](const Transformer& by, const Hypothesis& of, bool end) {
    const std::vector<int64_t> input{2, of.tokens[0]};
    const torch::Tensor logits = by.logits(by.forward(
        source, {torch::tensor(input, torch::kInt64), Segments::packed(std::array{int64_t{2}})}));
    return logits.softmax(1)[end ? 1 : 0][end ? 3 : of.tokens[0]].item<double>();
  };
  const auto found = voted({model.get(), other.get()}, source, one);
  ASSERT_EQ(found.size(), 8U);
  for (const Hypothesis& each : found) {
    double expected = 0;
    for (const bool end : {false, true}) {
      expected += std::log((probability(*model, each, end) + probability(*other, each, end)) / 2);
    }
    EXPECT_NEAR(each.log_probability, expected, 1e-5);
  }
}

}  // namespace
}  // namespace ballast
