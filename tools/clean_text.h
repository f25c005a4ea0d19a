#pragma once

#include <unicode/unistr.h>

#include <string_view>

namespace ballast {

/// UTF-8 text of a page as NFC with single spaces, none at the ends. Soft hyphens go, and entities
/// that the page escaped twice (`&amp;eacute;`) are resolved.
icu::UnicodeString clean_text(std::string_view utf8);

}  // namespace ballast
