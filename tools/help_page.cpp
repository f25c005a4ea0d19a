#include "tools/help_page.h"

#include <libxml/HTMLparser.h>
#include <unicode/utf8.h>

#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "ballast/base/error.h"
#include "tools/clean_text.h"

namespace ballast {
namespace {

struct FreeDocument {
  void operator()(htmlDocPtr document) const { xmlFreeDoc(document); }
};
using Document = std::unique_ptr<xmlDoc, FreeDocument>;

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  if (!stream.is_open() || stream.bad()) {
    throw DataError(file.string() + ": cannot be read; check its permissions");
  }
  return bytes;
}

std::optional<size_t> first_bad_byte(std::string_view bytes) {
  auto size = static_cast<int64_t>(bytes.size());
  for (int64_t at = 0; at < size;) {
    int64_t start = at;
    UChar32 character = 0;
    U8_NEXT(bytes.data(), at, size, character);
    if (character <= 0) return start;
  }
  return std::nullopt;
}

void check(std::string_view bytes, const std::filesystem::path& file) {
  const std::string advice = "; unpack the help package again";
  if (auto at = first_bad_byte(bytes)) {
    throw DataError(file.string() + ": byte " + std::to_string(*at + 1) +
                    " is no UTF-8 text, which a help page must be" + advice);
  }
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      bytes.find("</html>") == std::string_view::npos) {
    throw DataError(file.string() + ": no </html> found, so this is no whole help page" + advice);
  }
}

Document parsed(const std::filesystem::path& file) {
  std::string bytes = contents(file);
  check(bytes, file);
  int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET;
  Document document(
      htmlReadMemory(bytes.data(), static_cast<int>(bytes.size()), nullptr, "UTF-8", options));
  if (!document) throw DataError(file.string() + ": cannot be parsed as HTML");
  return document;
}

bool is_element(const xmlNode* node) { return node->type == XML_ELEMENT_NODE; }

std::string_view name_of(const xmlNode* node) { return reinterpret_cast<const char*>(node->name); }

std::string attribute(const xmlNode* node, const char* name) {
  const xmlAttr* found =
      xmlHasProp(const_cast<xmlNode*>(node), reinterpret_cast<const xmlChar*>(name));
  if (!found || !found->children || !found->children->content) return {};
  return reinterpret_cast<const char*>(found->children->content);
}

// The default variant stands beside these, so keeping them would say everything twice.
bool is_for_one_system(const xmlNode* node) {
  if (!is_element(node) || name_of(node) != "span") return false;
  std::string kind = attribute(node, "class");
  return kind == "MAC" || kind == "WIN" || kind == "UNIX";
}

bool is_paragraph(const xmlNode* node) {
  constexpr std::array<std::string_view, 7> kNames{"p", "h1", "h2", "h3", "h4", "h5", "h6"};
  if (!is_element(node)) return false;
  for (std::string_view name : kNames) {
    if (name_of(node) == name) return true;
  }
  return false;
}

// Other ids are numbered anew in each build of the help, so they do not match across languages.
bool is_stable(std::string_view id) {
  return id.starts_with("par_") || id.starts_with("hd_") || id.starts_with("bm_");
}

// Next node of the subtree under `root` in document order; iterative, since a hostile page may
// nest deeper than the stack.
const xmlNode* next(const xmlNode* node, const xmlNode* root, bool skip_children) {
  if (node->children && !skip_children) return node->children;
  while (node != root && !node->next) node = node->parent;
  return node == root ? nullptr : node->next;
}

std::string text_under(const xmlNode* root) {
  std::string text;
  bool skip = false;
  for (const xmlNode* node = root; node; node = next(node, root, skip)) {
    skip = node != root && (is_for_one_system(node) || node->type == XML_COMMENT_NODE);
    if (skip) continue;
    if (is_element(node) && name_of(node) == "br") text += ' ';
    bool has_text = node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
    if (has_text && node->content) text += reinterpret_cast<const char*>(node->content);
  }
  return text;
}

}  // namespace

std::vector<Paragraph> read_page(const std::filesystem::path& file) {
  Document document = parsed(file);
  const xmlNode* root = xmlDocGetRootElement(document.get());
  std::vector<Paragraph> paragraphs;
  std::unordered_set<std::string> seen;
  bool skip = false;
  for (const xmlNode* node = root; node; node = next(node, root, skip)) {
    skip = is_for_one_system(node);
    if (skip || !is_paragraph(node)) continue;
    std::string id = attribute(node, "id");
    if (is_stable(id) && seen.insert(id).second) {
      paragraphs.push_back({id, clean_text(text_under(node))});
    }
  }
  return paragraphs;
}

}  // namespace ballast
