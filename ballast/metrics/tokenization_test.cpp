#include "ballast/metrics/tokenization.h"

#include <gtest/gtest.h>

#include "ballast/base/error.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

using Words = std::vector<std::u32string>;

Words words(std::string_view line, BleuTokenization tokenization, const std::string& path = {}) {
  const std::u32string spaced = make_tokenizer(tokenization, path).spaced(code_points(line));
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

TEST(TokenizationZh, ChineseCharactersAreWordsAndTheRestIsCutAs13a) {
  EXPECT_EQ(words("我去3.5次,好。", BleuTokenization::chinese),
            (Words{U"我", U"去", U"3.5", U"次", U",", U"好", U"。"}));
  EXPECT_EQ(words("&quot;", BleuTokenization::chinese), (Words{U"&", U"quot", U";"}));
}

// sacreBLEU's ranges for the planes above the first are none: see the list.
TEST(TokenizationZh, CharactersOfPlaneTwoStayInTheirWord) {
  EXPECT_EQ(words("a\U00020000b", BleuTokenization::chinese), (Words{U"a\U00020000b"}));
  EXPECT_EQ(words("a\u2212b", BleuTokenization::chinese), (Words{U"a", U"\u2212", U"b"}));
}

TEST(TokenizationJa, MecabFindsTheWords) {
  EXPECT_EQ(words("すもももももももものうち", BleuTokenization::japanese),
            (Words{U"すもも", U"も", U"もも", U"も", U"もも", U"の", U"うち"}));
}

// Debian's dictionary has the era's name as a word, sacreBLEU's has not.
TEST(TokenizationJa, TheWordThatDebianAddsIsLeftOut) {
  EXPECT_EQ(words("令和元年", BleuTokenization::japanese), (Words{U"令", U"和", U"元年"}));
}

TEST(TokenizationJa, SignatureNamesMecabsVersionAndTheDictionary) {
  EXPECT_EQ(make_tokenizer(BleuTokenization::japanese).signature, "ja-mecab-0.996-IPA");
}

TEST(Tokenization, AFolderWithoutADictionaryIsRefused) {
  EXPECT_THROW(make_tokenizer(BleuTokenization::japanese, "/nowhere"), StoreError);
  EXPECT_THROW(make_tokenizer(BleuTokenization::korean, "/nowhere"), StoreError);
}

TEST(Tokenization, AModelThatIsNotGivenIsAskedFor) {
  try {
    make_tokenizer(BleuTokenization::flores200);
    FAIL() << "expected RecipeError";
  } catch (const RecipeError& error) {
    EXPECT_NE(std::string(error.what()).find("flores200:FILE"), std::string::npos) << error.what();
  }
  EXPECT_THROW(make_tokenizer(BleuTokenization::thirteen_a, "file"), RecipeError);
}

TEST(Unicode, IllFormedBytesBecomeReplacementMarks) {
  EXPECT_EQ(code_points("a\xff\xfe"), U"a\ufffd\ufffd");
}

}  // namespace
}  // namespace ballast
