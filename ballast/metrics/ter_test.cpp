#include "ballast/metrics/ter.h"

#include <gtest/gtest.h>

#include <vector>

namespace ballast {
namespace {

using Lines = std::vector<std::string>;

int64_t edits(const std::string& hypothesis, const Lines& references,
              const TerOptions& options = {}) {
  return sentence_ter(hypothesis, references, options).edits;
}

TEST(Ter, AMovedStretchIsOneEdit) {
  EXPECT_EQ(edits("d e a b c", {"a b c d e"}), 1);
  EXPECT_EQ(edits("a b x c d", {"a b c d"}), 1);
}

TEST(Ter, ShiftsAreMadeOnlyWhereTheyPay) {
  EXPECT_EQ(edits("b a", {"a b"}), 1);
  EXPECT_EQ(edits("x y", {"a b"}), 2);
  EXPECT_EQ(edits("c b a", {"a b c"}), 2);
}

TEST(Ter, AStretchOfElevenWordsNeedsTwoShifts) {
  EXPECT_EQ(edits("p q r s t u v w x y z 1 2 3 4 5 6 7 8 9 10",
                  {"1 2 3 4 5 6 7 8 9 10 p q r s t u v w x y z"}),
            1);
  EXPECT_EQ(edits("p q r s t u v w x y z 1 2 3 4 5 6 7 8 9 10 11",
                  {"1 2 3 4 5 6 7 8 9 10 11 p q r s t u v w x y z"}),
            2);
}

// The count is sacreBLEU's: so many equal words use up the candidates before a shift is chosen.
TEST(Ter, ASearchThatRunsOutOfCandidatesMakesNoShift) {
  EXPECT_EQ(edits("z z z z z z z z z z z z 1 2 3 4 5 6 7 8 9 10",
                  {"1 2 3 4 5 6 7 8 9 10 z z z z z z z z z z z z"}),
            20);
}

TEST(Ter, EmptyReferenceCostsEachWordAndScores100) {
  const TerScore score = sentence_ter("a b", Lines{""});
  EXPECT_EQ(score.edits, 2);
  EXPECT_EQ(score.score, 100);
  EXPECT_EQ(sentence_ter("", Lines{""}).score, 0);
  EXPECT_EQ(sentence_ter("", Lines{"a b"}).score, 100);
}

TEST(Ter, FewestEditsAreDividedByTheAverageLength) {
  const TerScore score = sentence_ter("a b c", Lines{"a b c d", "x y"});
  EXPECT_EQ(score.edits, 1);
  EXPECT_EQ(score.reference_len, 3);
  EXPECT_DOUBLE_EQ(score.score, 100.0 / 3);
}

TEST(Ter, CaseCountsOnlyIfAsked) {
  EXPECT_EQ(edits("The Cat", {"the cat"}), 0);
  EXPECT_EQ(edits("The Cat", {"the cat"}, {.case_sensitive = true}), 2);
}

TEST(Ter, SignatureIsSacrebleus) {
  EXPECT_EQ(ter_signature({}, 1),
            "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
}

TEST(Ter, LengthsFarApartStayWithinTheBeam) {
  std::string line = "a";
  for (int i = 0; i < 300; ++i) line += " a";
  EXPECT_EQ(edits("a", {line}), 300);
  EXPECT_EQ(edits(line, {"a"}), 300);
}

// Expected values: sacreBLEU 2.6.0, `TER(...).sentence_score(...).num_edits`.
TEST(Ter, EachOptionCutsWordsAsInSacrebleu) {
  const auto counts = [](const TerOptions& options) {
    return std::vector<int64_t>{
        edits("it's here, &quot;John's&quot;.", {"it 's here , \" john 's \" ."}, options),
        edits("我去。", {"我 去 。"}, options), edits("你好，世界", {"你好世界"}, options),
        edits("it's.", {"it's ."}, options)};
  };
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(counts({.normalized = true}), (Counts{0, 3, 1, 2}));
  EXPECT_EQ(counts({.no_punct = true}), (Counts{4, 3, 1, 0}));
  EXPECT_EQ(counts({.normalized = true, .asian_support = true}), (Counts{0, 0, 1, 2}));
  EXPECT_EQ(counts({.no_punct = true, .asian_support = true}), (Counts{4, 2, 0, 0}));
  EXPECT_EQ(counts({.asian_support = true}), (Counts{9, 3, 1, 2}));
}

TEST(Ter, SignatureNamesEveryOption) {
  EXPECT_EQ(
      ter_signature(
          {.normalized = true, .no_punct = true, .asian_support = true, .case_sensitive = true}, 2),
      "nrefs:2|case:mixed|tok:tercom|norm:yes|punct:no|asian:yes|version:2.6.0");
}

}  // namespace
}  // namespace ballast
