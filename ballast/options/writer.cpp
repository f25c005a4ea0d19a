#include "ballast/options/writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <sstream>

#include "ballast/base/error.h"
#include "ballast/options/words.h"

namespace ballast {
namespace {

constexpr size_t line_width = 100;

/// What a table or a choice consists of once it is written as a table.
struct Section {
  std::string kind;  ///< of a choice, else empty
  const TableSchema* table;
  const void* value;
};

Section section_of(const ChoiceSchema& choice, const void* value) {
  const KindSchema& kind = choice.kinds[choice.index(value)];
  return {std::string(kind.info.name), &table_of(kind.schema), choice.held(value)};
}

std::string inline_section(const Section& section) {
  std::vector<std::string> entries;
  if (!section.kind.empty()) entries.push_back(fmt::format("kind = \"{}\"", section.kind));
  for (const OptionSchema& option : section.table->options) {
    entries.push_back(fmt::format("{} = {}", option.name,
                                  inline_text(option.schema(), address_of(option, section.value))));
  }
  if (entries.empty()) return "{}";
  return fmt::format("{{ {} }}", fmt::join(entries, ", "));
}

std::string inline_list(const ListSchema& list, const void* value) {
  std::vector<std::string> elements;
  for (size_t i = 0; i < list.size(value); ++i) {
    elements.push_back(inline_text(list.element(), list.at(value, i)));
  }
  return fmt::format("[{}]", fmt::join(elements, ", "));
}

/// As a TOML string of one line, in double quotes.
std::string toml_string(std::string_view text) {
  const toml::value<std::string> value{std::string(text)};
  std::ostringstream made;
  made << toml::toml_formatter(value, toml::format_flags::allow_unicode_strings);
  // Bytes that are not UTF-8 are written as letters.
  const toml::table read = toml::parse("text = " + made.str());
  if (read["text"].value_exact<std::string_view>() == text) return made.str();
  throw RecipeError(fmt::format(
      "a recipe cannot hold the {} bytes of a text or path that is not UTF-8; rename it",
      text.size()));
}

std::string scalar_text(const Scalar& scalar) {
  const Overloaded text{[](bool value) { return std::string(value ? "true" : "false"); },
                        [](int64_t value) { return fmt::format("{}", value); },
                        [](double value) { return number_text(value); },
                        [](const std::string& value) { return toml_string(value); }};
  return std::visit(text, scalar);
}

/// Raises RecipeError where the text would not read back: "none" as a value beside "none" as unset.
std::string optional_text(const OptionalSchema& optional, const void* value) {
  const void* held = optional.held(value);
  const std::string unset = toml_string(unset_word);
  std::string text = held ? inline_text(optional.inner(), held) : unset;
  const bool taken = takes_word(optional.inner(), unset_word);
  if (text == unset && (held != nullptr) != taken) {
    throw RecipeError("an optional value cannot be \"none\", which a recipe reads as unset");
  }
  return text;
}

class Writer {
 public:
  void write(const Section& section, const std::string& name) {
    std::vector<std::pair<const OptionSchema*, Section>> later;
    for (const OptionSchema& option : section.table->options) {
      const void* value = address_of(option, section.value);
      if (const auto inner = as_table(option, value, name)) {
        later.emplace_back(&option, *inner);
      } else {
        line(option.name, inline_text(option.schema(), value));
      }
    }
    for (const auto& [option, inner] : later) {
      const std::string inner_name = joined_name(name, option->name);
      text_ += fmt::format("{}[{}]\n", text_.empty() ? "" : "\n", inner_name);
      if (!inner.kind.empty()) line("kind", toml_string(inner.kind));
      write(inner, inner_name);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view name, std::string_view value) {
    text_ += fmt::format("{} = {}\n", name, value);
  }

  /// The section an option is written as, or nothing when it stands on a line of its own. A choice
  /// of the recipe itself is always a table, so that the text begins with few lines.
  static std::optional<Section> as_table(const OptionSchema& option, const void* value,
                                         const std::string& owner) {
    const Schema* schema = &option.schema();
    while (const auto* optional = std::get_if<OptionalSchema>(&schema->form)) {
      value = optional->held(value);
      if (!value) return std::nullopt;
      schema = &optional->inner();
    }
    if (const auto* table = std::get_if<TableSchema>(&schema->form)) return {{"", table, value}};
    const auto* choice = std::get_if<ChoiceSchema>(&schema->form);
    if (!choice) return std::nullopt;
    const Section section = section_of(*choice, value);
    const size_t width = option.name.size() + inline_section(section).size();
    const bool fits = width + std::string_view(" = ").size() <= line_width;
    return fits && !owner.empty() ? std::nullopt : std::optional(section);
  }

  std::string text_;
};

}  // namespace

std::string inline_text(const Schema& schema, const void* value) {
  const Overloaded text{
      [&](const ScalarSchema& scalar) { return scalar_text(scalar.get(value)); },
      [&](const TableSchema& table) {
        return inline_section({"", &table, value});
      },
      [&](const ChoiceSchema& choice) { return inline_section(section_of(choice, value)); },
      [&](const ListSchema& list) { return inline_list(list, value); },
      [&](const OptionalSchema& optional) { return optional_text(optional, value); }};
  return std::visit(text, schema.form);
}

std::string toml_text(const Schema& schema, const void* value) {
  Writer writer;
  writer.write({"", &std::get<TableSchema>(schema.form), value}, "");
  return writer.take();
}

}  // namespace ballast
