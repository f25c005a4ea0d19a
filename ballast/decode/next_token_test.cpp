#include "ballast/decode/next_token.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace ballast {
namespace {

const TextVocabulary vocabulary{6, 5, 4, {4}};

/// All tokens that a thousand draws give.
std::set<int64_t> reachable(const std::vector<float>& logits, const GenerateOptions& options) {
  std::set<int64_t> found;
  for (int64_t i = 0; i < 1000; ++i) {
    std::vector<float> own = logits;
    found.insert(next_token(own, {}, {.step = i}, vocabulary, options).value());
  }
  return found;
}

TEST(NextToken, TheRepetitionPenaltyIsThatOfCtrl) {
  std::vector<float> logits{2, -2, 0, 3, 1};
  penalize_repetition(logits, std::vector<int64_t>{0, 1, 1, 0, 2, 9}, 4);
  EXPECT_EQ(logits, (std::vector<float>{0.5F, -8, 0, 3, 1}));
}

TEST(NextToken, ThePenaltyCountsThePrompt) {
  std::vector<float> logits{2, 0, 0, 3, 9, 0};  // 3 / 2 is below 2
  EXPECT_EQ(next_token(logits, std::vector<int64_t>{3}, {}, vocabulary,
                       {.temperature = 0, .repetition_penalty = 2}),
            0);
}

TEST(NextToken, FiltersApplyInTheirOrder) {
  // Probabilities 0.4, 0.3, 0.15, 0.1, (4 is no text), 0.05.
  std::vector<float> logits;
  for (const double p : {0.4, 0.3, 0.15, 0.1, 0.9, 0.05}) {
    logits.push_back(static_cast<float>(std::log(p)));
  }
  using Set = std::set<int64_t>;
  EXPECT_EQ(reachable(logits, {}), (Set{0, 1, 2, 3, 5}));
  EXPECT_EQ(reachable(logits, {.top_k = 3}), (Set{0, 1, 2}));
  EXPECT_EQ(reachable(logits, {.top_p = 0.75}), (Set{0, 1, 2}));
  // Of the two that top_k leaves the first has 0.57 alone; were top_p first, both would stay.
  EXPECT_EQ(reachable(logits, {.top_k = 2, .top_p = 0.55}), (Set{0}));
  EXPECT_EQ(reachable(logits, {.min_p = 0.3}), (Set{0, 1, 2}));
  EXPECT_EQ(reachable(logits, {.top_p = 0.6, .min_p = 0.3}), (Set{0, 1}));
  // At temperature 1/2 the shares are squared: 1, 0.56, 0.14.
  EXPECT_EQ(reachable(logits, {.temperature = 0.5, .min_p = 0.3}), (Set{0, 1}));
  EXPECT_EQ(reachable(logits, {.temperature = 0}), (Set{0}));
}

TEST(NextToken, IdsBehindTheVocabularyAreNoTokens) {
  std::vector<float> logits{1, 0, 0, 0, 50, 0, 99, 99};
  EXPECT_EQ(next_token(logits, {}, {}, vocabulary, {.temperature = 0}), 0);
}

TEST(NextToken, PiecesOfAVocabularyThatAreNoText) {
  const std::vector<std::string> lines{"a", "b", "<unk>", "c"};
  const Tokenizer tokenizer = Tokenizer::from_words(lines, "words");
  const TextVocabulary found = text_vocabulary(tokenizer, TextStart::begin);
  EXPECT_EQ(found.start, tokenizer.begin_id());
  EXPECT_EQ(found.size, tokenizer.size());
  const std::set<int64_t> never(found.never.begin(), found.never.end());
  EXPECT_EQ(never,
            (std::set<int64_t>{tokenizer.begin_id(), tokenizer.pad_id(), tokenizer.unknown_id()}));
  EXPECT_EQ(text_vocabulary(tokenizer, TextStart::end).start, tokenizer.end_id());
}

}  // namespace
}  // namespace ballast
