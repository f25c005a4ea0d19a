#pragma once

#include <libxml/HTMLparser.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ballast {

struct FreeHtml {
  void operator()(htmlDocPtr document) const { xmlFreeDoc(document); }
};
using HtmlDocument = std::unique_ptr<xmlDoc, FreeHtml>;

/// The bytes of a file. Throws DataError when it cannot be read.
std::string contents(const std::filesystem::path& file);

/// Where the first byte is that belongs to no UTF-8 text (0 bytes do not); none if there is none.
std::optional<size_t> first_bad_byte(std::string_view bytes);

/// The page in `bytes`, which came from `file`: UTF-8 where all of it is, else in the encoding that
/// the page names. Throws DataError for what is no HTML, or larger than 2 GiB.
HtmlDocument parse_html(const std::string& bytes, const std::filesystem::path& file);

inline bool is_element(const xmlNode* node) { return node->type == XML_ELEMENT_NODE; }

inline std::string_view name_of(const xmlNode* node) {
  return reinterpret_cast<const char*>(node->name);
}

/// An attribute's value; empty where there is none.
std::string attribute(const xmlNode* node, const char* name);

/// Next node of the subtree under `root` in document order, null at its end; iterative, since a
/// hostile page may nest deeper than the stack.
const xmlNode* next_node(const xmlNode* node, const xmlNode* root, bool skip_children);

}  // namespace ballast
