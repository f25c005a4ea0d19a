#pragma once

#include <unicode/unistr.h>

#include <filesystem>
#include <vector>

namespace ballast {

/// The paragraphs of prose of an HTML page in document order, in NFC with single spaces: what p, li
/// and dd hold themselves, outside of code, tables, forms and navigation, as far as is_prose says
/// so. Throws DataError for a page that cannot be read or parsed.
std::vector<icu::UnicodeString> read_prose(const std::filesystem::path& file);

/// A paragraph is prose when it has at least 6 words, ends as a sentence does (closing quotes and
/// brackets aside), and at least 9 in 10 of its characters are Latin letters or spaces.
bool is_prose(const icu::UnicodeString& text);

}  // namespace ballast
