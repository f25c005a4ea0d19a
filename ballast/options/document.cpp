#include "ballast/options/document.h"

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

/// Parser and tree recurse over the parts of a dotted name, so a hostile one would exhaust the
/// stack. Returns the line of the first name with more than 250 parts, else 0.
int line_of_endless_name(std::string_view text) {
  constexpr int most_parts = 250;
  int line = 1, parts = 1;
  for (const char letter : text) {
    if (letter == '.' && ++parts > most_parts) return line;
    if (letter == '\n') ++line;
    if (letter == '\n' || letter == '=' || letter == ',' || letter == ']') parts = 1;
  }
  return 0;
}

/// The parser's words, with what to do about the commonest mistakes.
std::string explain(std::string_view description) {
  if (description.find("utf-8") != std::string_view::npos) {
    return "found bytes that are not UTF-8, expected text; save the file as UTF-8";
  }
  constexpr std::string_view opening = "Error while ";
  if (description.starts_with(opening)) description.remove_prefix(opening.size());
  std::string text = fmt::format("not valid TOML: {}", description);
  if (text.ends_with("could not determine value type")) {
    text += "; a word stands in double quotes, a number is written 8000 or 1e-3";
  }
  return text;
}

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

void Document::report(Place place, std::string text) {
  problems.push_back({std::move(place), std::move(text)});
}

Document parse_document(std::string_view text, std::string source) {
  Document made{std::move(source), {}, {}};
  const Converter convert(made.source);
  if (const int line = line_of_endless_name(text); line > 0) {
    made.report({made.source, line, 1}, "found a name of more than 250 parts");
    return made;
  }
  try {
    made.root = convert.table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    made.report(convert.place(error.source()), explain(error.description()));
  }
  return made;
}

}  // namespace ballast
