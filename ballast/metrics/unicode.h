#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// The code points of a UTF-8 text. Each ill-formed sequence of bytes becomes U+FFFD.
std::u32string code_points(std::string_view utf8);

/// The text in UTF-8.
std::string utf8(std::u32string_view text);

/// Lower case by Unicode's full mapping, final sigma included, without the habits of any language.
std::u32string lower_case(std::u32string_view text);

/// White space as Python's `str.split` sees it: Unicode's, and U+001C to U+001F.
bool is_space(char32_t c);

/// The text without the white space at its end.
std::u32string_view trim_end(std::u32string_view text);

/// The text without the white space at both ends.
std::u32string_view trim(std::u32string_view text);

/// The longest stretches without white space. They refer into `text`.
std::vector<std::u32string_view> split_words(std::u32string_view text);

/// The words with a space between each two.
std::u32string joined(std::span<const std::u32string_view> words);

}  // namespace ballast
