#include "ballast/options/toml_string.h"

#include <fmt/format.h>
#include <unicode/utf8.h>

#include "ballast/base/error.h"

namespace ballast {
namespace {

std::string escaped(char letter) {
  switch (letter) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(letter);
  if (code < 0x20 || code == 0x7f) return fmt::format("\\u{:04X}", code);
  return std::string(1, letter);
}

}  // namespace

bool is_utf8(std::string_view text) {
  const auto length = static_cast<int64_t>(text.size());
  int64_t at = 0;
  while (at < length) {
    UChar32 code = 0;
    U8_NEXT(text.data(), at, length, code);
    if (code < 0) return false;
  }
  return true;
}

std::string toml_string(std::string_view text) {
  std::string made = "\"";
  for (const char letter : text) made += escaped(letter);
  made += '"';
  if (is_utf8(text)) return made;
  throw RecipeError(fmt::format(
      "a recipe cannot hold the {} bytes of a text or path that is not UTF-8; rename it",
      text.size()));
}

}  // namespace ballast
