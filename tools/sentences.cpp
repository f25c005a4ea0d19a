#include "tools/sentences.h"

#include <unicode/locid.h>
#include <unicode/regex.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <memory>
#include <string>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr int kMostTokens = 150;
constexpr int kLengthsMustAgreeFrom = 10;
constexpr int kMostTimesAsLong = 3;
// Longer than any abbreviation below and the character before it.
constexpr int32_t kAbbreviationWindow = 8;

void check(UErrorCode status) {
  if (U_FAILURE(status)) throw DataError(std::string("ICU: ") + u_errorName(status));
}

std::unique_ptr<icu::RegexPattern> pattern(const char16_t* text) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::RegexPattern> made(icu::RegexPattern::compile(text, 0, status));
  check(status);
  return made;
}

std::unique_ptr<icu::RegexMatcher> matcher(const icu::RegexPattern& of,
                                           const icu::UnicodeString& text) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::RegexMatcher> made(of.matcher(text, status));
  check(status);
  return made;
}

bool contains(const icu::RegexPattern& wanted, const icu::UnicodeString& text) {
  UErrorCode status = U_ZERO_ERROR;
  bool found = matcher(wanted, text)->find(status);
  check(status);
  return found;
}

bool is_word(UChar32 c) {
  return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0 || c == u'_';
}

bool is_latin_letter(UChar32 c) { return u_isalpha(c) && uscript_hasScript(c, USCRIPT_LATIN); }

bool ends_in_abbreviation(const icu::UnicodeString& text, int32_t end) {
  static const auto kAbbreviation =
      pattern(uR"((?<![\p{L}\p{N}_])(?:e\.g|i\.e|etc|ca|usw|bzw|vgl|approx|d\. ?h|[A-Z])\.$)");
  int32_t start = std::max(0, end - kAbbreviationWindow);
  return contains(*kAbbreviation, text.tempSubStringBetween(start, end));
}

// Lower-case words with single spaces between them, each passed through `change`.
template <class Change>
icu::UnicodeString words_only(const icu::UnicodeString& text, Change change) {
  icu::UnicodeString lower(text), out;
  lower.toLower(icu::Locale::getRoot());
  bool gap = false;
  for (int32_t at = 0; at < lower.length(); at = lower.moveIndex32(at, 1)) {
    UChar32 c = lower.char32At(at);
    if (!is_word(c)) {
      gap = true;
      continue;
    }
    if (gap && !out.isEmpty()) out.append(u' ');
    gap = false;
    change(out, c);
  }
  return out;
}

icu::UnicodeString words(const icu::UnicodeString& text) {
  return words_only(text, [](icu::UnicodeString& out, UChar32 c) { out.append(c); });
}

bool lengths_agree(int source, int target) {
  auto [low, high] = std::minmax(source, target);
  return high < kLengthsMustAgreeFrom || high <= kMostTimesAsLong * low;
}

bool is_prose(const icu::UnicodeString& text) {
  static const auto kTwoLetters = pattern(uR"(\p{L}{2})");
  int letters = 0;
  for (int32_t at = 0; at < text.length(); at = text.moveIndex32(at, 1)) {
    letters += is_latin_letter(text.char32At(at)) ? 1 : 0;
  }
  return 2 * letters >= text.countChar32() && contains(*kTwoLetters, text);
}

}  // namespace

std::vector<icu::UnicodeString> sentences(const icu::UnicodeString& text) {
  static const auto kEnd = pattern(uR"([.!?]["')\]”“»]*( )(?=["'(„“«\[]*[\p{Lu}0-9]))");
  std::vector<icu::UnicodeString> found;
  int32_t from = 0;
  UErrorCode status = U_ZERO_ERROR;
  for (auto end = matcher(*kEnd, text); end->find(status);) {
    if (ends_in_abbreviation(text, end->start(status) + 1)) continue;
    found.emplace_back(text, from, end->start(1, status) - from);
    from = end->end(1, status);
  }
  check(status);
  found.emplace_back(text, from);
  return found;
}

std::vector<SentencePair> aligned(const icu::UnicodeString& source,
                                  const icu::UnicodeString& target) {
  auto left = sentences(source), right = sentences(target);
  if (left.size() != right.size()) return {{source, target}};
  std::vector<SentencePair> pairs;
  for (size_t i = 0; i < left.size(); ++i) pairs.emplace_back(left[i], right[i]);
  return pairs;
}

int token_count(const icu::UnicodeString& text) {
  int count = 0;
  bool in_word = false;
  for (int32_t at = 0; at < text.length(); at = text.moveIndex32(at, 1)) {
    UChar32 c = text.char32At(at);
    bool word = is_word(c);
    bool starts = word ? !in_word : !u_isUWhiteSpace(c);
    count += starts ? 1 : 0;
    in_word = word;
  }
  return count;
}

icu::UnicodeString sentence_key(const icu::UnicodeString& text) {
  bool in_number = false;
  return words_only(text, [&in_number](icu::UnicodeString& out, UChar32 c) {
    bool digit = u_isdigit(c);
    bool goes_on = digit && in_number && !out.isEmpty() && out[out.length() - 1] == u'0';
    if (!goes_on) out.append(digit ? u'0' : c);
    in_number = digit;
  });
}

bool worth_keeping(const SentencePair& pair) {
  const auto& [source, target] = pair;
  int left = token_count(source), right = token_count(target);
  bool sizes = left >= 2 && right >= 1 && std::max(left, right) <= kMostTokens;
  return sizes && lengths_agree(left, right) && is_prose(source) && words(source) != words(target);
}

}  // namespace ballast
