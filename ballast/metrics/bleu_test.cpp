#include "ballast/metrics/bleu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/base/error.h"

namespace ballast {
namespace {

using Lines = std::vector<std::string>;

double rounded(double score) { return std::round(score * 100) / 100; }

double bleu(const std::string& hypothesis, const Lines& references,
            const BleuOptions& options = {}) {
  return rounded(sentence_bleu(hypothesis, references, options).score);
}

// C37: the values that sacreBLEU's issues 114, 141, 150 and 198 settled on.
TEST(BleuC37, AShortSentenceScoresAsInSacrebleu) {
  EXPECT_EQ(bleu("This is cat.", {"This is a cat.", "This is a bad cat."}), 35.19);
  EXPECT_EQ(bleu("This is cat", {"This is a cat", "This is a bad cat"}), 0.0);
  EXPECT_EQ(bleu("The dog bit the man.", {"The dog had bit the man."}), 51.15);
}

TEST(BleuC37, TwoMatchingTokensScoreOnlyWithEffectiveOrder) {
  EXPECT_EQ(bleu("hello world", {"hello world"}), 0.0);
  EXPECT_EQ(bleu("hello world", {"hello world"}, {.effective_order = true}), 100.0);
}

TEST(BleuC37, NoMatchAndNoWordsScoreZero) {
  for (const bool effective_order : {false, true}) {
    EXPECT_EQ(bleu("yes", {"no"}, {.effective_order = effective_order}), 0.0);
    EXPECT_EQ(bleu("", {"no"}, {.effective_order = effective_order}), 0.0);
    EXPECT_EQ(bleu("yes", {""}, {.effective_order = effective_order}), 0.0);
  }
}

// C38
TEST(BleuC38, EachSmoothingScoresAsInSacrebleu) {
  const auto smoothed = [](BleuSmoothing method) {
    return bleu("this is a test of it", {"this is a quiz of it"}, {.smooth_method = method});
  };
  EXPECT_EQ(smoothed(BleuSmoothing::exponential), 37.99);
  EXPECT_EQ(smoothed(BleuSmoothing::floor), 25.41);
  EXPECT_EQ(smoothed(BleuSmoothing::add_k), 48.55);
  EXPECT_EQ(smoothed(BleuSmoothing::none), 0.0);
}

TEST(BleuC38, TheTrioOfSacrebleusReadmeScores4853) {
  const Lines hypotheses{"The dog bit the man.", "It wasn't surprising.",
                         "The man had just bitten him."};
  const std::vector<Lines> references{
      {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
      {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};
  EXPECT_EQ(rounded(corpus_bleu(hypotheses, references).score), 48.53);
}

TEST(Bleu, TheNearestReferenceLengthCountsAndOfTwoTheShorter) {
  const auto length = [](const Lines& references) {
    return sentence_bleu("a b c d", references).ref_len;
  };
  EXPECT_EQ(length({"a", "a b c", "a b c d e f"}), 3);
  EXPECT_EQ(length({"a b c d e", "a b c"}), 3);
  EXPECT_EQ(length({"a b c", "a b c d e"}), 3);
}

TEST(Bleu, AMatchCountsAsOftenAsOneReferenceHasIt) {
  EXPECT_EQ(sentence_bleu("the the the the", Lines{"the cat the", "the dog"}).counts[0], 2);
}

TEST(Bleu, LowerCaseEndsAGreekWordWithItsFinalSigma) {
  const BleuOptions lower{.lowercase = true, .effective_order = true};
  EXPECT_EQ(bleu("ΟΔΟΣ", {"οδος"}, lower), 100.0);
  EXPECT_EQ(bleu("ΟΔΟΣ", {"οδοσ"}, lower), 0.0);
}

TEST(Bleu, SignatureNamesEveryOption) {
  EXPECT_EQ(bleu_signature({}, 1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(bleu_signature({.tokenize = BleuTokenization::international,
                            .smooth_method = BleuSmoothing::floor,
                            .lowercase = true,
                            .effective_order = true},
                           2),
            "nrefs:2|case:lc|eff:yes|tok:intl|smooth:floor[0.10]|version:2.6.0");
}

TEST(Bleu, UnequalNumbersOfLinesAreRefusedWithBothCounts) {
  const Lines hypotheses{"a", "b"};
  const std::vector<Lines> references{{"a", "b"}, {"a", "b", "c"}};
  try {
    corpus_bleu(hypotheses, references);
    FAIL() << "expected DataError";
  } catch (const DataError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("reference 2 has 3 lines"), text.npos) << text;
    EXPECT_NE(text.find("2 hypotheses"), text.npos) << text;
  }
  EXPECT_THROW(corpus_bleu(hypotheses, {}), DataError);
}

TEST(Bleu, MaxOrderSaysHowManyPrecisionsThereAre) {
  const BleuScore score = sentence_bleu("a b c d e", Lines{"a b c d x"}, {.max_order = 2});
  EXPECT_EQ(score.precisions, (std::vector<double>{80, 75}));
  EXPECT_NEAR(score.score, 100 * std::sqrt(0.8 * 0.75), 1e-9);
}

TEST(Bleu, AHundredLoneFullStopsLookTokenized) {
  Lines lines(99, "a b .");
  EXPECT_FALSE(looks_tokenized(lines));
  lines.emplace_back("b.");
  EXPECT_FALSE(looks_tokenized(lines));
  lines.emplace_back("c .");
  EXPECT_TRUE(looks_tokenized(lines));
}

}  // namespace
}  // namespace ballast
