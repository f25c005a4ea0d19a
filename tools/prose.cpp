#include "tools/prose.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tools/clean_text.h"
#include "tools/html.h"

namespace ballast {
namespace {

constexpr int kFewestWords = 6;

template <size_t n>
bool is_one_of(const xmlNode* node, const std::array<std::string_view, n>& names) {
  return is_element(node) && std::find(names.begin(), names.end(), name_of(node)) != names.end();
}

bool is_paragraph(const xmlNode* node) {
  static constexpr std::array<std::string_view, 3> kNames{"p", "li", "dd"};
  return is_one_of(node, kNames);
}

bool is_no_text(const xmlNode* node) {
  static constexpr std::array<std::string_view, 12> kNames{"script", "style", "pre",    "head",
                                                           "nav",    "table", "title",  "form",
                                                           "button", "svg",   "header", "footer"};
  return node->type == XML_COMMENT_NODE || is_one_of(node, kNames);
}

// What stands in a paragraph's element and is a paragraph, or holds some, for itself.
bool is_block(const xmlNode* node) {
  static constexpr std::array<std::string_view, 15> kNames{"p",  "li", "dd", "dt",  "ul",
                                                           "ol", "dl", "h1", "h2",  "h3",
                                                           "h4", "h5", "h6", "div", "blockquote"};
  return is_one_of(node, kNames);
}

std::string own_text(const xmlNode* root) {
  std::string text;
  bool skip = false;
  for (const xmlNode* node = root; node; node = next_node(node, root, skip)) {
    skip = node != root && (is_no_text(node) || is_block(node));
    if (skip || (is_element(node) && name_of(node) == "br")) text += ' ';
    bool has_text = node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
    if (!skip && has_text && node->content) text += reinterpret_cast<const char*>(node->content);
  }
  return text;
}

bool closes(UChar32 c) {
  return c == u'"' || c == u'\'' || c == u')' || c == u']' || c == 0x201D || c == 0x2019;
}

bool ends_a_sentence(const icu::UnicodeString& text) {
  int32_t end = text.length();
  while (end > 0 && closes(text[end - 1])) --end;
  if (end == 0) return false;
  UChar32 last = text[end - 1];
  return last == u'.' || last == u'!' || last == u'?';
}

}  // namespace

bool is_prose(const icu::UnicodeString& text) {
  int spaces = 0;
  int letters = 0;
  int all = 0;
  for (int32_t at = 0; at < text.length(); at = text.moveIndex32(at, 1)) {
    UChar32 c = text.char32At(at);
    ++all;
    if (c == u' ') ++spaces;
    if (u_isalpha(c) && uscript_hasScript(c, USCRIPT_LATIN)) ++letters;
  }
  return spaces + 1 >= kFewestWords && 10 * (letters + spaces) >= 9 * all && ends_a_sentence(text);
}

std::vector<icu::UnicodeString> read_prose(const std::filesystem::path& file) {
  HtmlDocument document = parse_html(contents(file), file);
  const xmlNode* root = xmlDocGetRootElement(document.get());
  std::vector<icu::UnicodeString> paragraphs;
  bool skip = false;
  for (const xmlNode* node = root; node; node = next_node(node, root, skip)) {
    skip = is_no_text(node);
    if (skip || !is_paragraph(node)) continue;
    auto text = clean_text(own_text(node));
    if (is_prose(text)) paragraphs.push_back(std::move(text));
  }
  return paragraphs;
}

}  // namespace ballast
