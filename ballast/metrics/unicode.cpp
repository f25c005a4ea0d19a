#include "ballast/metrics/unicode.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>

namespace ballast {

std::u32string code_points(std::string_view utf8) {
  std::u32string text;
  text.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();) {
    UChar32 c = 0;
    U8_NEXT_OR_FFFD(utf8.data(), at, utf8.size(), c);
    text.push_back(static_cast<char32_t>(c));
  }
  return text;
}

std::string utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char32_t c : text) {
    std::array<char, U8_MAX_LENGTH> unit{};
    size_t length = 0;
    U8_APPEND_UNSAFE(unit.data(), length, static_cast<UChar32>(c));
    bytes.append(unit.data(), length);
  }
  return bytes;
}

std::u32string lower_case(std::u32string_view text) {
  icu::UnicodeString units;
  for (const char32_t c : text) units.append(static_cast<UChar32>(c));
  units.toLower(icu::Locale::getRoot());
  std::u32string lowered;
  lowered.reserve(text.size());
  for (int32_t at = 0; at < units.length(); at = units.moveIndex32(at, 1)) {
    lowered.push_back(static_cast<char32_t>(units.char32At(at)));
  }
  return lowered;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == U' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

std::u32string_view trim_end(std::u32string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::u32string_view trim(std::u32string_view text) {
  text = trim_end(text);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  auto begin = std::find_if_not(text.begin(), text.end(), is_space);
  while (begin != text.end()) {
    const auto end = std::find_if(begin, text.end(), is_space);
    words.emplace_back(begin, end);
    begin = std::find_if_not(end, text.end(), is_space);
  }
  return words;
}

std::u32string joined(std::span<const std::u32string_view> words) {
  std::u32string text;
  for (const std::u32string_view word : words) {
    if (!text.empty()) text.push_back(U' ');
    text.append(word);
  }
  return text;
}

}  // namespace ballast
