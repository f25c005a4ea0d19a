#include "ballast/recipe/document.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <tuple>

namespace ballast {
namespace {

class Converter {
 public:
  explicit Converter(const std::string& source) : source_(source) {}

  TomlTable table(const toml::table& found) const {
    TomlTable made;
    for (const auto& [key, value] : found) {
      made.push_back({std::string(key.str()), place(key.source()), node(value)});
    }
    return made;
  }

  Place place(const toml::source_region& region) const {
    return {source_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

 private:
  TomlNode node(const toml::node& found) const {
    TomlNode made{place(found.source()), TomlDate{}};
    if (const auto* value = found.as_boolean()) made.value = value->get();
    if (const auto* value = found.as_integer()) made.value = value->get();
    if (const auto* value = found.as_floating_point()) made.value = value->get();
    if (const auto* value = found.as_string()) made.value = value->get();
    if (const auto* value = found.as_table()) made.value = table(*value);
    if (const auto* value = found.as_array()) made.value = list(*value);
    return made;
  }

  TomlNode::List list(const toml::array& found) const {
    TomlNode::List made;
    for (const toml::node& each : found) made.push_back(node(each));
    return made;
  }

  const std::string& source_;
};

}  // namespace

std::string text_of(const Place& place) {
  if (place.line == 0) return place.source;
  return fmt::format("{}:{}:{}", place.source, place.line, place.column);
}

std::string text_of(std::vector<Problem> problems) {
  const auto order = [](const Problem& problem) {
    return std::tuple(problem.place.line == 0, problem.place.line, problem.place.column);
  };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const Problem& a, const Problem& b) { return order(a) < order(b); });
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}: {}", text_of(problem.place), problem.text);
  }
  return text;
}

const TomlEntry* find_entry(const TomlTable& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const TomlEntry& entry) { return entry.name == name; });
  return found == table.end() ? nullptr : &*found;
}

TomlEntry* find_entry(TomlTable& table, std::string_view name) {
  return const_cast<TomlEntry*>(find_entry(std::as_const(table), name));
}

Document parse_document(std::string_view text, std::string source) {
  Document made{std::move(source), {}, {}};
  const Converter convert(made.source);
  try {
    made.root = convert.table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    made.problems.push_back({convert.place(error.source()), std::string(error.description())});
  }
  return made;
}

}  // namespace ballast
