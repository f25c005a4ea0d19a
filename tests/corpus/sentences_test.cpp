#include "tools/sentences.h"

#include <gmock/gmock.h>

#include <string>

#include "tools/clean_text.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> cut(std::string_view text) {
  std::vector<std::string> found;
  for (const auto& sentence : sentences(clean_text(text))) {
    sentence.toUTF8String(found.emplace_back());
  }
  return found;
}

std::string cleaned(std::string_view text) {
  std::string out;
  return clean_text(text).toUTF8String(out);
}

std::string key(std::string_view text) {
  std::string out;
  return sentence_key(clean_text(text)).toUTF8String(out);
}

bool kept(std::string_view source, std::string_view target) {
  return worth_keeping({clean_text(source), clean_text(target)});
}

TEST(CleanText, JoinsWhiteSpaceAndComposesLetters) {
  EXPECT_EQ(cleaned(" a\n\t b\u00a0\u2028 c "), "a b c");
  EXPECT_EQ(cleaned("u\u0308ber"), "\u00fcber");
}

TEST(CleanText, DropsSoftHyphensAndResolvesEntitiesEscapedTwice) {
  EXPECT_EQ(cleaned("Mon\u00adday"), "Monday");
  EXPECT_EQ(cleaned("&eacute; &#945; &#x3b1; &lt;b&gt;"), "\u00e9 \u03b1 \u03b1 <b>");
}

TEST(CleanText, LeavesWhatIsNoEntity) {
  for (std::string text : {"&nosuch; &;", "R&D; S & T", "&#xD800; &#0; &#99999999999;", "&&amp"}) {
    EXPECT_EQ(cleaned(text), text);
  }
}

TEST(Sentences, EndBeforeACapitalDigitOrOpeningMark) {
  EXPECT_THAT(cut("One. Two! 3 is next? \u00c8 qui. (So.) \"And\" so."),
              ElementsAre("One.", "Two!", "3 is next?", "\u00c8 qui.", "(So.)", "\"And\" so."));
}

TEST(Sentences, DoNotEndBeforeSmallLettersNorAfterAbbreviations) {
  EXPECT_THAT(cut("Press it. then wait"), ElementsAre("Press it. then wait"));
  EXPECT_THAT(cut("Use e.g. This, or d. h. Jenes."), ElementsAre("Use e.g. This, or d. h. Jenes."));
  EXPECT_THAT(cut("Press Ctrl+V. The text"), ElementsAre("Press Ctrl+V. The text"));
  EXPECT_THAT(cut("In L10N. The rest"), ElementsAre("In L10N.", "The rest"));
}

TEST(Sentences, StayWholeParagraphsWhereTheCountsDiffer) {
  auto pairs = aligned(clean_text("One. Two."), clean_text("Eins, zwei."));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].first, clean_text("One. Two."));
  EXPECT_EQ(aligned(clean_text("One. Two."), clean_text("Eins. Zwei.")).size(), 2U);
}

TEST(Tokens, AreWordsAndSingleMarks) {
  EXPECT_EQ(token_count(clean_text("Gr\u00fc\u00dfe, a_1 (x)...")), 9);
  EXPECT_EQ(token_count(clean_text("")), 0);
}

TEST(SentenceKey, IgnoresCasePunctuationAndTheSizeOfNumbers) {
  EXPECT_EQ(key("Page 12, \"Section\" 7!"), "page 0 section 0");
  EXPECT_EQ(key("UCS4 x10y22"), "ucs0 x0y0");
  EXPECT_EQ(key("page 3 section 144"), key("Page 12, \"Section\" 7!"));
}

TEST(WorthKeeping, NeedsTwoDifferentSides) {
  EXPECT_TRUE(kept("Close the window", "Fenster schlie\u00dfen"));
  EXPECT_FALSE(kept("F-test", "F-Test"));
  EXPECT_FALSE(kept("\"/\" Operator", "Operator \"/\""));
  EXPECT_TRUE(kept("Due on 3 May", "Due on 4 May"));
}

TEST(WorthKeeping, NeedsTwoToAHundredAndFiftyTokens) {
  auto words = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "word ";
    return text;
  };
  EXPECT_FALSE(kept("Window", "Fenster"));
  EXPECT_FALSE(kept("The window", ""));
  EXPECT_TRUE(kept("The window", "Fenster"));
  EXPECT_TRUE(kept(words(150), words(149)));
  EXPECT_FALSE(kept(words(151), words(149)));
  EXPECT_FALSE(kept(words(149), words(151)));
}

TEST(WorthKeeping, NeedsLengthsThatAgreeFromTenTokensOn) {
  EXPECT_TRUE(kept("left and right line with upper edges now x", "Klammern"));
  EXPECT_FALSE(kept("left and right line with upper edges now x y", "Klammern"));
  EXPECT_TRUE(kept("a bb cc dd", "aa bb cc dd ee ff gg hh ii jj kk ll"));
  EXPECT_FALSE(kept("a bb cc dd", "aa bb cc dd ee ff gg hh ii jj kk ll mm"));
}

TEST(WorthKeeping, NeedsMostlyLettersInTheSource) {
  EXPECT_TRUE(kept("NA()", "NV()"));
  EXPECT_FALSE(kept("#N/A", "#NV"));
  EXPECT_FALSE(kept("=SUM(2;3;4) returns 9.", "=SUMME(2;3;4) ergibt 9."));
}

}  // namespace
}  // namespace ballast
