#include "ballast/options/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "ballast/options/schema.h"

namespace ballast {
namespace {

constexpr std::string_view override_prefix = "--set ";

bool is_override(const Place& place) { return place.source.starts_with(override_prefix); }

/// The parser recurses over the parts of a dotted name, so a hostile one would exhaust the
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

/// `99999999999999999999` is no TOML, and no text either.
bool is_too_large(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789_") == std::string_view::npos &&
         text.find_first_of("0123456789") == 0;
}

/// Puts the one value of `from`, which lies below `depth` tables, where it belongs in `into`. A
/// kind that was given as a word, `norm = "rms_norm"`, becomes a table with that kind on the way.
void put(toml::table& into, toml::table& from, size_t depth) {
  auto [key, value] = *from.begin();
  toml::node* held = into.get(key);
  if (held && depth > 0) {
    toml::table& inner = *value.as_table();
    if (held->is_table()) return put(*held->as_table(), inner, depth - 1);
    if (held->is_string() && !inner.contains("kind")) {
      inner.insert_or_assign(toml::key("kind", held->source()), std::move(*held));
    }
  }
  into.erase(key.str());
  into.insert_or_assign(key, std::move(value));
}

/// What is wrong with a value that is not TOML; empty when it is text.
std::string value_problem(const std::string& value) {
  if (is_too_large(value)) {
    return fmt::format("found {}, expected a whole number from {} to {}", value,
                       std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  }
  if (!opens_as_toml(value)) return "";
  return "the value is not valid TOML; put the whole in single quotes for the shell, text inside "
         "it "
         "in double quotes";
}

void apply(Document& document, const std::string& text, int number) {
  const Place place{std::string(override_prefix) + text, number, 0};
  const auto report = [&](std::string problem) {
    document.problems.push_back({place, std::move(problem)});
  };
  const std::string lines(static_cast<size_t>(number - 1), '\n');  // so that places tell the number
  const auto parsed = [&](std::string_view name, std::string_view value) {
    return parse_document(lines + fmt::format("{} = {}", name, value), place.source);
  };
  const size_t equals = text.find('=');
  const std::vector<std::string> parts = parts_of(text.substr(0, equals));
  Document made = parsed(fmt::format("'{}'", fmt::join(parts, "'.'")), "''");
  if (equals == std::string::npos || !is_name(parts) || !made.problems.empty()) {
    return report("expected the form table.option=value");
  }
  toml::table* owner = &made.root;
  while (toml::table* inner = owner->begin()->second.as_table()) owner = inner;
  const std::string value = text.substr(equals + 1);
  Document given = parsed("value", value);
  if (given.problems.empty() && given.root.size() == 1) {
    owner->insert_or_assign(parts.back(), std::move(given.root.begin()->second));
  } else if (std::string problem = value_problem(value); !problem.empty()) {
    return report(std::move(problem));
  } else {
    *owner->begin()->second.as_string() = value;
  }
  put(document.root, made.root, parts.size() - 1);
}

}  // namespace

std::string text_of(const Place& place) {
  if (place.line == 0 || is_override(place)) return place.source;
  return fmt::format("{}:{}:{}", place.source, place.line, place.column);
}

Place place_of(const toml::source_region& region) {
  return {region.path ? *region.path : "", static_cast<int>(region.begin.line),
          static_cast<int>(region.begin.column)};
}

std::string text_of(std::vector<Problem> problems) {
  const auto order = [](const Problem& problem) {
    const Place& place = problem.place;
    return std::tuple(is_override(place) || place.line == 0, place.line, place.column);
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

Document parse_document(std::string_view text, std::string source) {
  Document made(std::move(source));
  if (const int line = line_of_endless_name(text); line > 0) {
    made.problems.push_back({{made.source, line, 1}, "found a name of more than 250 parts"});
    return made;
  }
  try {
    made.root = toml::parse(text, made.source);
  } catch (const toml::parse_error& error) {
    made.problems.push_back({place_of(error.source()), explain(error.description())});
  }
  return made;
}

Document with_overrides(Document document, std::span<const std::string> overrides) {
  int number = 0;
  for (const std::string& text : overrides) apply(document, text, ++number);
  return document;
}

Places::Places(const Document& document) : whole_{document.source} { add("", document.root); }

void Places::add(const std::string& owner, const toml::table& table) {
  for (const auto& [key, value] : table) {
    const std::string name = joined_name(owner, key);
    places_.emplace(name, place_of(key.source()));
    if (const toml::table* inner = value.as_table()) add(name, *inner);
  }
}

const Place& Places::of(std::string_view name) const {
  const auto found = places_.find(name);
  if (found != places_.end()) return found->second;
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? whole_ : of(name.substr(0, dot));
}

}  // namespace ballast
