#include "ballast/options/overrides.h"

#include <fmt/format.h>

#include <limits>

namespace ballast {
namespace {

void move_to(const Place& place, TomlNode& node) {
  node.place = place;
  if (auto* list = std::get_if<TomlNode::List>(&node.value)) {
    for (TomlNode& each : *list) move_to(place, each);
  }
  if (auto* table = std::get_if<TomlTable>(&node.value)) {
    for (TomlEntry& each : *table) {
      each.place = place;
      move_to(place, each.node);
    }
  }
}

bool opens_as_toml(std::string_view text) {
  return !text.empty() && std::string_view("[{\"'").find(text.front()) != std::string_view::npos;
}

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts{""};
  for (const char letter : name) {
    if (letter == '.') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

bool is_name(const std::vector<std::string>& parts) {
  constexpr size_t deepest = 32;
  if (parts.size() > deepest) return false;
  for (const std::string& part : parts) {
    if (part.empty() || part.find_first_of(" \t\n\"'") != std::string::npos) return false;
  }
  return true;
}

/// The table a name leads through; the shorthand `norm = "rms_norm"` becomes a table with that
/// kind.
TomlTable& opened(TomlNode& node) {
  if (auto* table = std::get_if<TomlTable>(&node.value)) return *table;
  TomlTable made;
  if (std::holds_alternative<std::string>(node.value)) {
    made.push_back({"kind", node.place, node});
  }
  return node.value.emplace<TomlTable>(std::move(made));
}

TomlEntry& entry_of(TomlTable& table, const std::string& name, const Place& place) {
  if (TomlEntry* found = find_entry(table, name)) return *found;
  return table.emplace_back(TomlEntry{name, place, {place, TomlTable{}}});
}

void set(TomlTable& root, const std::vector<std::string>& parts, TomlNode node) {
  TomlTable* table = &root;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    table = &opened(entry_of(*table, parts[i], node.place).node);
  }
  TomlEntry& entry = entry_of(*table, parts.back(), node.place);
  entry.place = node.place;
  entry.node = std::move(node);
}

/// `99999999999999999999` is no TOML, and no text either.
bool is_too_large(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789_") == std::string_view::npos &&
         text.find_first_of("0123456789") == 0;
}

void apply(Document& document, const std::string& text) {
  const Place place{"--set " + text};
  const size_t equals = text.find('=');
  const std::vector<std::string> parts = parts_of(text.substr(0, equals));
  if (equals == std::string::npos || !is_name(parts)) {
    document.report(place, "expected the form table.option=value");
    return;
  }
  const std::string value = text.substr(equals + 1);
  Document parsed = parse_document("value = " + value, "");
  TomlNode node{place, value};
  if (parsed.problems.empty() && parsed.root.size() == 1) {
    node = std::move(parsed.root.front().node);
    move_to(place, node);
  } else if (is_too_large(value)) {
    document.report(place, fmt::format("found {}, expected a whole number from {} to {}", value,
                                       std::numeric_limits<int64_t>::min(),
                                       std::numeric_limits<int64_t>::max()));
    return;
  } else if (opens_as_toml(value)) {
    document.report(place,
                    "the value is not valid TOML; put the whole in single "
                    "quotes for the shell, text inside it in double quotes");
    return;
  }
  set(document.root, parts, std::move(node));
}

}  // namespace

Document with_overrides(Document document, std::span<const std::string> overrides) {
  for (const std::string& text : overrides) apply(document, text);
  return document;
}

}  // namespace ballast
