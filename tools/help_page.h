#pragma once

#include <unicode/unistr.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ballast {

/// One paragraph or heading of a help page: its element id, the same in every language, and its
/// text in NFC with single spaces.
struct Paragraph {
  std::string id;
  icu::UnicodeString text;
};

/// The paragraphs and headings of a LibreOffice help page in document order. Of a paragraph that
/// differs by operating system only the default is taken; of a repeated id only the first.
/// Throws DataError for a page that cannot be read, is not UTF-8 or breaks off.
std::vector<Paragraph> read_page(const std::filesystem::path& file);

}  // namespace ballast
