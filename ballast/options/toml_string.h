#pragma once

#include <string>
#include <string_view>

namespace ballast {

/// True for well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

/// `text` as a TOML basic string with its quotes. Raises RecipeError when it is not UTF-8.
std::string toml_string(std::string_view text);

}  // namespace ballast
