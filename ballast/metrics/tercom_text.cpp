#include "ballast/metrics/tercom_text.h"

#include <array>
#include <utility>

#include "ballast/metrics/text_rules.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_ideograph(char32_t c) { return within(c, 0x4e00, 0x9fff) || within(c, 0x3400, 0x4dbf); }

bool is_stroke_or_radical(char32_t c) {
  return within(c, 0x31c0, 0x31ef) || within(c, 0x2e80, 0x2eff);
}

bool is_compatibility(char32_t c) {
  return within(c, 0x3300, 0x33ff) || within(c, 0xf900, 0xfaff) || within(c, 0xfe30, 0xfe4f);
}

// Meant are the enclosed letters and months, U+3200 to U+32FF; sacreBLEU's range ends at U+3F22.
bool is_enclosed(char32_t c) { return within(c, 0x3200, 0x3f22); }

bool is_asian_punctuation(char32_t c) {
  return within(c, 0x3001, 0x3002) || within(c, 0x3008, 0x3011) || within(c, 0x3014, 0x301f) ||
         within(c, 0xff61, 0xff65) || c == 0x30fb;
}

bool is_full_width_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U"\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09";
  return marks.find(c) != marks.npos;
}

bool is_removed_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U".,?:;!\"()";
  return marks.find(c) != marks.npos;
}

std::u32string normalized(std::u32string text) {
  constexpr std::array<Replacement, 2> joins{{{U"\n-", U""}, {U"\n", U" "}}};
  for (const Replacement& join : joins) text = replaced(text, join);
  text = plain_punctuation_apart(U" " + entities_replaced(std::move(text)) + U" ");
  return stops_apart(replaced(text, {U"'s ", U" 's "}));
}

// sacreBLEU's rules for whole lines of one kana are left out: it puts a space before every line, so
// they never apply.
std::u32string asian_apart(std::u32string text) {
  for (const CharacterTest apart : {is_ideograph, is_stroke_or_radical, is_compatibility,
                                    is_enclosed, is_asian_punctuation, is_full_width_punctuation}) {
    text = set_apart(text, apart);
  }
  return text;
}

}  // namespace

std::u32string tercom_text(std::u32string_view line, const TerOptions& options) {
  std::u32string text = options.case_sensitive ? std::u32string(line) : lower_case(line);
  if (options.normalized) {
    text = normalized(std::move(text));
    if (options.asian_support) text = asian_apart(std::move(text));
  }
  if (options.no_punct) {
    text = without(text, is_removed_punctuation);
    if (options.asian_support) {
      text = without(without(text, is_asian_punctuation), is_full_width_punctuation);
    }
  }
  return text;
}

}  // namespace ballast
