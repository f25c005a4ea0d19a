#include "ballast/metrics/text_rules.h"

#include <algorithm>
#include <array>

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

constexpr std::array<Replacement, 4> entities{
    {{U"&quot;", U"\""}, {U"&amp;", U"&"}, {U"&lt;", U"<"}, {U"&gt;", U">"}}};

}  // namespace

std::u32string set_apart(std::u32string_view text, CharacterTest apart) {
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

std::u32string without(std::u32string_view text, CharacterTest removed) {
  std::u32string kept(text);
  std::erase_if(kept, removed);
  return kept;
}

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

std::u32string PairRule::operator()(std::u32string_view text) const {
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

std::u32string plain_punctuation_apart(std::u32string_view text) {
  return set_apart(text, is_plain_punctuation);
}

std::u32string stops_apart(std::u32string_view text) {
  std::u32string spaced = PairRule{is_not_digit, is_stop, Side::right}(text);
  spaced = PairRule{is_stop, is_not_digit, Side::left}(spaced);
  return PairRule{is_digit, is_dash, Side::right}(spaced);
}

std::u32string entities_replaced(std::u32string text) {
  for (const Replacement& each : entities) text = replaced(text, each);
  return text;
}

}  // namespace ballast
