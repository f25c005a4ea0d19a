#include "tools/html.h"

#include <unicode/utf8.h>

#include <fstream>
#include <iterator>
#include <limits>

#include "ballast/base/error.h"

namespace ballast {

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

HtmlDocument parse_html(const std::string& bytes, const std::filesystem::path& file) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    throw DataError(file.string() + ": larger than 2 GiB, which no page is");
  }
  int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET;
  HtmlDocument document(htmlReadMemory(bytes.data(), static_cast<int>(bytes.size()), nullptr,
                                       first_bad_byte(bytes) ? nullptr : "UTF-8", options));
  if (!document) throw DataError(file.string() + ": cannot be parsed as HTML");
  return document;
}

std::string attribute(const xmlNode* node, const char* name) {
  const xmlAttr* found =
      xmlHasProp(const_cast<xmlNode*>(node), reinterpret_cast<const xmlChar*>(name));
  if (!found || !found->children || !found->children->content) return {};
  return reinterpret_cast<const char*>(found->children->content);
}

const xmlNode* next_node(const xmlNode* node, const xmlNode* root, bool skip_children) {
  if (node->children && !skip_children) return node->children;
  while (node != root && !node->next) node = node->parent;
  return node == root ? nullptr : node->next;
}

}  // namespace ballast
