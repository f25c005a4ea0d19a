#include "ballast/data/masking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "ballast/base/error.h"
#include "ballast/data/batch_stream.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int64_t begin = 2, end = 3, mask = 4, first = 5, size = 105;

/// Ids 5 to 104 are text, of which the even ones begin a word.
MaskableVocabulary vocabulary() {
  MaskableVocabulary made{
      .mask = mask, .is_ordinary = std::vector<bool>(size), .begins_word = std::vector<bool>(size)};
  for (int64_t id = first; id < size; ++id) {
    made.ordinary.push_back(id);
    made.is_ordinary[id] = true;
    made.begins_word[id] = id % 2 == 0;
  }
  return made;
}

/// Sequences of all lengths from 2 to 61 with an end piece every ten tokens.
EncodedCorpus corpus() {
  EncodedCorpus made;
  for (int32_t i = 0; i < 60; ++i) {
    std::vector<int32_t> ids{begin};
    for (int32_t k = 0; k < i + 1; ++k) {
      ids.push_back(k % 10 == 9 ? end : static_cast<int32_t>(first + (7 * i + 13 * k) % 100));
    }
    made.target.add(ids);
  }
  return made;
}

std::vector<int64_t> all_sequences() {
  std::vector<int64_t> all(60);
  for (int64_t i = 0; i < 60; ++i) all[i] = i;
  return all;
}

struct Masked {
  Batch plain, masked;
};

Masked masked(const MaskingOptions& options, std::optional<int64_t> pass, uint64_t seed = 1,
              const std::vector<int64_t>& sequences = all_sequences()) {
  const Batch plain = make_batch(corpus(), sequences);
  return {plain, Masking(options, vocabulary(), seed).masked(plain, pass)};
}

std::vector<int64_t> values(const torch::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

/// Rows that are predicted, sequence by sequence, counted from its first.
std::map<int64_t, std::vector<int64_t>> places(const Batch& batch,
                                               const std::vector<int64_t>& sequences) {
  const Segments& segments = batch.target_input.segments;
  std::map<int64_t, std::vector<int64_t>> found;
  for (const int64_t row : values(batch.predicted)) {
    int64_t i = 0;
    while (row >= segments.begin(i) + segments.length(i)) ++i;
    found[sequences[i]].push_back(row - segments.begin(i));
  }
  return found;
}

TEST(Masking, PredictsItsShareOfEverySequenceAndNoSpecialPiece) {
  const auto [plain, hidden] = masked({}, 0);
  const auto before = values(plain.target_input.tokens), after = values(hidden.target_input.tokens);
  const auto rows = values(hidden.predicted), targets = values(hidden.target_output);
  ASSERT_EQ(rows.size(), targets.size());
  EXPECT_EQ(hidden.tokens, std::ssize(rows));
  const std::set<int64_t> predicted(rows.begin(), rows.end());
  EXPECT_EQ(predicted.size(), rows.size());
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(targets[i], before[rows[i]]);
    EXPECT_GE(targets[i], first);
  }
  for (size_t row = 0; row < before.size(); ++row) {
    if (predicted.contains(static_cast<int64_t>(row))) continue;
    EXPECT_EQ(before[row], after[row]);
  }
  const auto by_sequence = places(hidden, all_sequences());
  const Segments& segments = plain.target_input.segments;
  for (int64_t i = 0; i < segments.count(); ++i) {
    int64_t ordinary = 0;
    for (int64_t k = 0; k < segments.length(i); ++k) ordinary += before[segments.begin(i) + k] > 4;
    if (ordinary == 0) {
      EXPECT_FALSE(by_sequence.contains(i));
    } else {
      EXPECT_EQ(std::ssize(by_sequence.at(i)),
                std::max<int64_t>(1, std::llround(0.15 * static_cast<double>(ordinary))));
    }
  }
}

// Of n draws with probability p, a count beyond 4 sqrt(n p (1 - p)) has probability 6e-5.
TEST(Masking, ShowsTheMaskARandomPieceOrTheToken) {
  double masks = 0, kept = 0, others = 0;
  for (int64_t pass = 0; pass < 40; ++pass) {
    const Batch batch = masked({}, pass).masked;
    const auto shown = values(batch.target_input.tokens), targets = values(batch.target_output);
    const auto rows = values(batch.predicted);
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t id = shown[rows[i]];
      ++(id == mask ? masks : id == targets[i] ? kept : others);
    }
  }
  const double n = masks + kept + others;
  const auto near = [&](double count, double p) {
    EXPECT_LT(std::abs(count - n * p), 4 * std::sqrt(n * p * (1 - p))) << count << " of " << n;
  };
  near(masks, 0.8);
  near(kept, 0.1 + 0.1 / 100);  // a random piece may be the token's
  near(others, 0.1 * 99 / 100);
}

TEST(Masking, DependsOnSeedPassAndSequenceAlone) {
  const std::vector<int64_t> few{41, 7, 30};
  const Batch alone = masked({}, 3, 1, few).masked;
  auto together = places(masked({}, 3).masked, all_sequences());
  for (const auto& [sequence, rows] : places(alone, few)) EXPECT_EQ(rows, together[sequence]);
  const auto rows_of = [](std::optional<int64_t> pass, uint64_t seed, int64_t patterns = 0) {
    return values(masked({.patterns = patterns}, pass, seed).masked.predicted);
  };
  EXPECT_EQ(rows_of(3, 1), rows_of(3, 1));
  EXPECT_NE(rows_of(3, 1), rows_of(4, 1));
  EXPECT_NE(rows_of(3, 1), rows_of(3, 2));
  EXPECT_EQ(rows_of(3, 1, 1), rows_of(4, 1, 1));  // static
  EXPECT_EQ(rows_of(0, 1, 10), rows_of(10, 1, 10));
  EXPECT_NE(rows_of(0, 1, 10), rows_of(9, 1, 10));
  EXPECT_EQ(rows_of({}, 1), rows_of({}, 2));  // of an evaluation
}

TEST(Masking, HidesWholeWords) {
  const auto [plain, hidden] = masked({.share = 0.3, .whole_words = true}, 0);
  const auto ids = values(plain.target_input.tokens), rows = values(hidden.predicted);
  const std::set<int64_t> predicted(rows.begin(), rows.end());
  const auto goes_on = [&](int64_t row) { return ids[row] >= first && ids[row] % 2 == 1; };
  ASSERT_GT(rows.size(), 100U);
  for (size_t row = 1; row < ids.size(); ++row) {
    const auto here = static_cast<int64_t>(row);
    if (!goes_on(here) || ids[row - 1] < first) continue;
    EXPECT_EQ(predicted.contains(here), predicted.contains(here - 1)) << row;
  }
}

TEST(Masking, AStreamGoesOnAsIfItHadNotStopped) {
  auto text = std::make_shared<EncodedCorpus>(corpus());
  text->masking = std::make_shared<Masking>(MaskingOptions{}, vocabulary(), 1);
  BatchStream whole(text, {.tokens = 200}, 1), resumed(text, {.tokens = 200}, 1);
  const int64_t batches = whole.batches_per_epoch();
  for (int64_t i = 0; i < batches + 2; ++i) whole.next();
  resumed.seek({1, 2});
  for (int i = 0; i < 5; ++i) {
    const Batch a = whole.next(), b = resumed.next();
    EXPECT_TRUE(torch::equal(a.predicted, b.predicted));
    EXPECT_TRUE(torch::equal(a.target_input.tokens, b.target_input.tokens));
  }
}

TEST(Masking, TheMaskIsAPieceOfTheVocabularyOrBehindAllPieces) {
  const std::vector<std::string> words{"red", "green", "blue"};
  EXPECT_EQ(mask_id(Tokenizer::from_words(words, "w")), 7);
  const std::vector<std::string> with_mask{"red", "<mask>", "blue"};
  const Tokenizer tokenizer = Tokenizer::from_words(with_mask, "w");
  const int64_t id = mask_id(tokenizer);
  EXPECT_EQ(tokenizer.piece(id).text, "<mask>");
  const MaskableVocabulary found = maskable(tokenizer);
  EXPECT_EQ(found.ordinary.size(), 2U);
  EXPECT_FALSE(found.is_ordinary[id]);
  EXPECT_TRUE(found.begins_word[found.ordinary.front()]);  // no piece has a space before it
}

TEST(Masking, SharesBeyondAllAreRefused) {
  EXPECT_THAT([] { Masking({.masked = 0.8, .random = 0.3}, vocabulary(), 1); },
              ThrowsMessage<RecipeError>(HasSubstr("at most 1 together")));
}

}  // namespace
}  // namespace ballast
