#include "ballast/metrics/tokenization.h"

#include <gtest/gtest.h>

#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

using Words = std::vector<std::u32string>;

Words words(std::string_view line, BleuTokenization tokenization) {
  const std::u32string spaced = tokenize(code_points(line), tokenization);
  const auto split = split_words(spaced);
  return Words(split.begin(), split.end());
}

Words words_13a(std::string_view line) { return words(line, BleuTokenization::thirteen_a); }
Words words_intl(std::string_view line) { return words(line, BleuTokenization::international); }

TEST(Tokenization13a, StopsAndCommasBetweenDigitsStay) {
  EXPECT_EQ(words_13a("It costs 1,000.5."), (Words{U"It", U"costs", U"1,000.5", U"."}));
  EXPECT_EQ(words_13a("a,b"), (Words{U"a", U",", U"b"}));
}

TEST(Tokenization13a, ADashIsSetApartOnlyAfterADigit) {
  EXPECT_EQ(words_13a("well-known 3-4"), (Words{U"well-known", U"3", U"-", U"4"}));
}

TEST(Tokenization13a, EntitiesAreReadOnceFromAmpersandOnwards) {
  EXPECT_EQ(words_13a("&quot;&amp;lt;&apos;"), (Words{U"\"", U"<", U"&", U"apos", U";"}));
  EXPECT_EQ(words_13a("a<skipped>b"), (Words{U"ab"}));
}

TEST(Tokenization13a, LeavesUnicodePunctuationInItsWord) {
  EXPECT_EQ(words_13a("«x»"), (Words{U"«x»"}));
}

TEST(TokenizationIntl, SetsUnicodePunctuationAndSymbolsApart) {
  EXPECT_EQ(words_intl("«x» 5€"), (Words{U"«", U"x", U"»", U"5", U"€"}));
  EXPECT_EQ(words_intl("你好。"), (Words{U"你好", U"。"}));
}

TEST(TokenizationIntl, APointThatEndsTheLineStaysWithItsNumber) {
  EXPECT_EQ(words_intl("in 1999."), (Words{U"in", U"1999."}));
  EXPECT_EQ(words_intl("٣٫٤ 1,2"), (Words{U"٣٫٤", U"1,2"}));
}

TEST(TokenizationChar, EveryCodePointIsAWord) {
  EXPECT_EQ(words("a\u00a0é😀", BleuTokenization::character), (Words{U"a", U"é", U"😀"}));
}

TEST(TokenizationNone, WordsEndOnlyAtWhiteSpace) {
  EXPECT_EQ(words(" a.b\u3000c\x1d(d) ", BleuTokenization::none), (Words{U"a.b", U"c", U"(d)"}));
}

TEST(Unicode, IllFormedBytesBecomeReplacementMarks) {
  EXPECT_EQ(code_points("a\xff\xfe"), U"a\ufffd\ufffd");
}

}  // namespace
}  // namespace ballast
