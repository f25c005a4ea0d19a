#include "ballast/options/words.h"

#include <fmt/format.h>

#include <cmath>

namespace ballast {
namespace {

struct Noun {
  std::string_view one, many;
};

Noun noun_of(ScalarType type) {
  switch (type) {
    case ScalarType::boolean:
      return {"true or false", "true or false values"};
    case ScalarType::whole_number:
      return {"a whole number", "whole numbers"};
    case ScalarType::number:
      return {"a number", "numbers"};
    case ScalarType::text:
      return {"text in quotes", "texts in quotes"};
    case ScalarType::path:
      return {"a path in quotes", "paths in quotes"};
    case ScalarType::word:
      return {"a word in quotes", "words in quotes"};
  }
  return {};
}

std::string many_words(const Schema& schema) {
  const Overloaded words{
      [](const ScalarSchema& scalar) { return std::string(noun_of(scalar.type).many); },
      [](const TableSchema&) { return std::string("tables"); },
      [](const ChoiceSchema&) { return std::string("kinds"); },
      [](const ListSchema& list) { return fmt::format("lists of {}", many_words(list.element())); },
      [](const OptionalSchema& optional) { return many_words(optional.inner()); }};
  return std::visit(words, schema.form);
}

std::string list_words(const ListSchema& list) {
  const std::string elements = many_words(list.element());
  if (!list.fixed_size) return fmt::format("a list of {}", elements);
  return fmt::format("a list of {} {}", *list.fixed_size, elements);
}

}  // namespace

std::string expected_words(const Schema& schema) {
  const Overloaded words{
      [](const ScalarSchema& scalar) { return std::string(noun_of(scalar.type).one); },
      [](const TableSchema&) { return std::string("a table"); },
      [](const ChoiceSchema&) { return std::string("a kind in quotes or a table with a kind"); },
      [](const ListSchema& list) { return list_words(list); },
      [](const OptionalSchema& optional) { return expected_words(optional.inner()); }};
  return std::visit(words, schema.form);
}

std::string found_words(const toml::node& node) {
  if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
  if (const auto value = node.value_exact<int64_t>()) return fmt::format("{}", *value);
  if (const auto value = node.value_exact<double>()) return number_text(*value);
  if (const auto value = node.value_exact<std::string_view>()) {
    return fmt::format("the string \"{}\"", *value);
  }
  if (const toml::array* list = node.as_array()) return fmt::format("a list of {}", list->size());
  return node.is_table() ? "a table" : "a date or time";
}

std::string bounds_words(const Bounds& bounds) {
  const bool lower = std::isfinite(bounds.low), upper = std::isfinite(bounds.high);
  if (lower && upper && !bounds.open_low && !bounds.open_high) {
    return fmt::format("from {} to {}", bounds.low, bounds.high);
  }
  std::string words;
  if (lower) words = fmt::format("{} {}", bounds.open_low ? "above" : "at least", bounds.low);
  if (lower && upper) words += " and ";
  if (upper) words += fmt::format("{} {}", bounds.open_high ? "below" : "at most", bounds.high);
  return words;
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string markdown_cell(std::string_view text) {
  std::string made;
  for (const char letter : text) {
    if (letter == '|') made += '\\';
    made += letter;
  }
  return made;
}

}  // namespace ballast
