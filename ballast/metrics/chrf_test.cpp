#include "ballast/metrics/chrf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/base/error.h"

namespace ballast {
namespace {

using Lines = std::vector<std::string>;

double chrf(const std::string& hypothesis, const Lines& references,
            const ChrfOptions& options = {}) {
  return sentence_chrf(hypothesis, references, options);
}

TEST(ChrfC38, TheDogLineScores6765) {
  const double score = chrf("The dog bit the man.", {"The dog had bit the man."});
  EXPECT_EQ(std::round(score * 100) / 100, 67.65);
}

TEST(Chrf, WhiteSpaceIsNoCharacter) { EXPECT_DOUBLE_EQ(chrf("th ed og", {"the\u00a0dog"}), 100); }

TEST(Chrf, OrdersThatOneSideIsTooShortForDoNotCount) {
  EXPECT_DOUBLE_EQ(chrf("ab", {"ab"}), 100);
  // Orders 1 and 2: precision 1 and 1, recall 2/3 and 1/2; F_2 of 1 and 7/12.
  EXPECT_NEAR(chrf("ab", {"abc"}), 100 * 5 * (7.0 / 12) / (4 + 7.0 / 12), 1e-12);
}

TEST(Chrf, EmptyTextScoresZero) {
  EXPECT_EQ(chrf("", {"a"}), 0);
  EXPECT_EQ(chrf("a", {""}), 0);
  EXPECT_EQ(chrf("", {""}), 0);
}

TEST(Chrf, WordOrderPartsOneMarkFromEachWord) {
  const ChrfOptions words{.char_order = 1, .word_order = 1, .beta = 1};
  // Characters agree. Of the words "(hi" and ")" one of the two of "( hi)", "(" and "hi" and ")"
  // agrees.
  const double characters = 1, precision = 0.5, recall = 1.0 / 3;
  const double p = (characters + precision) / 2, r = (characters + recall) / 2;
  EXPECT_NEAR(chrf("(hi)", {"( hi)"}, words), 100 * 2 * p * r / (p + r), 1e-12);
}

TEST(Chrf, TheBestReferenceCounts) { EXPECT_DOUBLE_EQ(chrf("the cat", {"a dog", "the cat"}), 100); }

TEST(Chrf, NameAndSignatureShowTheOrders) {
  EXPECT_EQ(chrf_name({.word_order = 2}), "chrF2++");
  EXPECT_EQ(chrf_signature({.word_order = 2, .lowercase = true}, 1),
            "nrefs:1|case:lc|eff:yes|nc:6|nw:2|space:no|version:2.6.0");
}

// Expected values: sacreBLEU 2.6.0, `CHRF(...).sentence_score`.
TEST(Chrf, EachOptionScoresAsInSacrebleu) {
  const auto scored = [](const ChrfOptions& options) {
    return chrf("the cat  sat, on mat", {"the cat sat on the mat."}, options);
  };
  EXPECT_NEAR(scored({.whitespace = true}), 49.77255926631944, 1e-9);
  EXPECT_NEAR(scored({.eps_smoothing = true}), 51.78652613555306, 1e-9);
  EXPECT_NEAR(scored({.beta = 0}), 61.482961482961485, 1e-9);
  EXPECT_NEAR(scored({.char_order = 3, .beta = 3}), 65.30708743832123, 1e-9);
  EXPECT_NEAR(scored({.char_order = 0, .word_order = 2}), 54.007430997876874, 1e-9);
}

TEST(Chrf, WithEpsilonOrdersThatBothSidesAreTooShortForCount) {
  EXPECT_NEAR(chrf("ab", {"ab"}, {.eps_smoothing = true}), 100.0 / 3, 1e-9);
}

TEST(Chrf, NoOrderAtAllIsRefused) {
  EXPECT_THROW(chrf("a", {"a"}, {.char_order = 0}), RecipeError);
}

}  // namespace
}  // namespace ballast
