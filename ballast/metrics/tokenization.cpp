#include "ballast/metrics/tokenization.h"

#include <unicode/uchar.h>

namespace ballast {
namespace {

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_not_digit(char32_t c) { return !is_digit(c); }
bool is_stop(char32_t c) { return c == U'.' || c == U','; }
bool is_dash(char32_t c) { return c == U'-'; }

// All of ASCII's punctuation but ' , - and the full stop, which depend on their neighbours.
bool is_plain_punctuation(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') ||
         (c >= U'(' && c <= U'+') || (c >= U':' && c <= U'@') || c == U'/';
}

bool in_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}
bool is_punctuation(char32_t c) { return in_category(c, U_GC_P_MASK); }
bool is_symbol(char32_t c) { return in_category(c, U_GC_S_MASK); }
bool is_not_number(char32_t c) { return !in_category(c, U_GC_N_MASK); }

using Predicate = bool (*)(char32_t);

std::u32string set_apart(std::u32string_view text, Predicate apart) {
  std::u32string spaced;
  spaced.reserve(text.size() * 2);
  for (const char32_t c : text) {
    if (apart(c)) {
      spaced.append({U' ', c, U' '});
    } else {
      spaced.push_back(c);
    }
  }
  return spaced;
}

enum class Side { left, right };

// Sets the `side` character of each pair (first, second) apart. Like a regular expression's
// substitution, pairs are found from the left and do not overlap.
struct PairRule {
  Predicate first, second;
  Side apart;

  std::u32string operator()(std::u32string_view text) const {
    std::u32string spaced;
    spaced.reserve(text.size() * 2);
    size_t at = 0;
    while (at < text.size()) {
      const bool pair = at + 1 < text.size() && first(text[at]) && second(text[at + 1]);
      if (!pair) {
        spaced.push_back(text[at++]);
        continue;
      }
      if (apart == Side::left) spaced.push_back(U' ');
      spaced.append({text[at], U' ', text[at + 1]});
      if (apart == Side::right) spaced.push_back(U' ');
      at += 2;
    }
    return spaced;
  }
};

struct Replacement {
  std::u32string_view from, to;
};

// In this order: what one replacement writes, a later one may read.
constexpr std::array<Replacement, 7> replacements_13a{{{U"<skipped>", U""},
                                                       {U"-\n", U""},
                                                       {U"\n", U" "},
                                                       {U"&quot;", U"\""},
                                                       {U"&amp;", U"&"},
                                                       {U"&lt;", U"<"},
                                                       {U"&gt;", U">"}}};

std::u32string replaced(const std::u32string& text, const Replacement& replacement) {
  size_t found = text.find(replacement.from);
  if (found == text.npos) return text;
  std::u32string result;
  size_t begin = 0;
  for (; found != text.npos; found = text.find(replacement.from, begin)) {
    result.append(text, begin, found - begin).append(replacement.to);
    begin = found + replacement.from.size();
  }
  return result.append(text, begin);
}

std::u32string tokenize_13a(std::u32string_view line) {
  std::u32string text(line);
  for (const Replacement& each : replacements_13a) text = replaced(text, each);
  text = set_apart(U" " + text + U" ", is_plain_punctuation);
  text = PairRule{is_not_digit, is_stop, Side::right}(text);
  text = PairRule{is_stop, is_not_digit, Side::left}(text);
  return PairRule{is_digit, is_dash, Side::right}(text);
}

std::u32string tokenize_international(std::u32string_view line) {
  std::u32string text = PairRule{is_not_number, is_punctuation, Side::right}(line);
  text = PairRule{is_punctuation, is_not_number, Side::left}(text);
  return set_apart(text, is_symbol);
}

}  // namespace

std::u32string tokenize(std::u32string_view line, BleuTokenization tokenization) {
  switch (tokenization) {
    case BleuTokenization::thirteen_a:
      return tokenize_13a(line);
    case BleuTokenization::international:
      return tokenize_international(line);
    case BleuTokenization::character:
      return set_apart(line, [](char32_t) { return true; });
    case BleuTokenization::none:
      break;
  }
  return std::u32string(line);
}

}  // namespace ballast
