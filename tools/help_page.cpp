#include "tools/help_page.h"

#include <array>
#include <string_view>
#include <unordered_set>

#include "ballast/base/error.h"
#include "tools/clean_text.h"
#include "tools/html.h"

namespace ballast {
namespace {

void check(std::string_view bytes, const std::filesystem::path& file) {
  const std::string advice = "; unpack the help package again";
  if (auto at = first_bad_byte(bytes)) {
    throw DataError(file.string() + ": byte " + std::to_string(*at + 1) +
                    " is no UTF-8 text, which a help page must be" + advice);
  }
  if (bytes.find("</html>") == std::string_view::npos) {
    throw DataError(file.string() + ": no </html> found, so this is no whole help page" + advice);
  }
}

HtmlDocument parsed(const std::filesystem::path& file) {
  std::string bytes = contents(file);
  check(bytes, file);
  return parse_html(bytes, file);
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

std::string text_under(const xmlNode* root) {
  std::string text;
  bool skip = false;
  for (const xmlNode* node = root; node; node = next_node(node, root, skip)) {
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
  HtmlDocument document = parsed(file);
  const xmlNode* root = xmlDocGetRootElement(document.get());
  std::vector<Paragraph> paragraphs;
  std::unordered_set<std::string> seen;
  bool skip = false;
  for (const xmlNode* node = root; node; node = next_node(node, root, skip)) {
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
