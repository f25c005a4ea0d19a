#include "ballast/options/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "ballast/options/words.h"
#include "ballast/options/writer.h"

namespace ballast {
namespace {

/// What a link to the heading of this name points at, by the rule of GitHub and most renderers.
std::string link(const std::string& heading) {
  std::string anchor;
  for (const char letter : heading) {
    if (letter != '.' && letter != '[' && letter != ']') anchor += letter;
  }
  return fmt::format("[{}](#{})", heading, anchor);
}

class Page {
 public:
  explicit Page(const TableSchema& root) {
    text_ =
        "# Recipe reference\n\n"
        "Every option of a recipe with its default. A choice is written `name = \"kind\"`, or\n"
        "`name = { kind = \"kind\", ... }` with options of that kind. The word \"none\" unsets an\n"
        "optional value.\n\n"
        "## Top of the recipe\n\n";
    options(root, keep(root.make()), "");
    describe_pending();
  }

  std::string take() { return std::move(text_); }

 private:
  /// A table or choice has one section, which shows its value where it first occurs.
  struct Section {
    const Schema* schema;
    std::string name;
    const void* value;
  };

  /// Sections point into defaults, so these live as long as the page.
  const void* keep(std::shared_ptr<const void> made) {
    return kept_.emplace_back(std::move(made)).get();
  }

  void options(const TableSchema& table, const void* defaults, const std::string& owner) {
    if (table.options.empty()) {
      text_ += "No options.\n\n";
      return;
    }
    text_ += "| option | type | default | range | meaning |\n|---|---|---|---|---|\n";
    for (const OptionSchema& option : table.options) {
      const void* value = address_of(option, defaults);
      const std::string type = type_of(option.schema(), value, joined_name(owner, option.name));
      text_ += fmt::format("| `{}` | {} | {} | {} | {} |\n", option.name, type,
                           default_of(option.schema(), value), bounds_words(option.bounds),
                           markdown_cell(option.help));
    }
    text_ += '\n';
  }

  std::string type_of(const Schema& schema, const void* value, const std::string& name) {
    const Overloaded words{
        [&](const ScalarSchema& scalar) {
          if (scalar.words.empty()) return expected_words(schema);
          return fmt::format("one of `{}`", fmt::join(scalar.words, "`, `"));
        },
        [&](const TableSchema&) { return "table " + section(schema, value, name); },
        [&](const ChoiceSchema&) { return "choice " + section(schema, value, name); },
        [&](const ListSchema& list) {
          const auto* scalar = std::get_if<ScalarSchema>(&list.element().form);
          if (scalar && scalar->words.empty()) return expected_words(schema);
          return "list, each " + type_of(list.element(), nullptr, name);
        },
        [&](const OptionalSchema& optional) {
          const void* held = value ? optional.held(value) : nullptr;
          return type_of(optional.inner(), held, name) + ", or none";
        }};
    return std::visit(words, schema.form);
  }

  /// The default where the section of a table or kind does not show it already.
  std::string default_of(const Schema& schema, const void* value) {
    if (const auto* choice = std::get_if<ChoiceSchema>(&schema.form)) {
      return default_kind(*choice, schema, value);
    }
    const auto* optional = std::get_if<OptionalSchema>(&schema.form);
    const void* held = optional ? optional->held(value) : nullptr;
    if (held) return default_of(optional->inner(), held);
    const std::string text = inline_text(schema, value);
    const bool is_table = std::holds_alternative<TableSchema>(schema.form);
    if (is_table && text == inline_text(schema, sections_.at(&schema).value)) return "";
    return fmt::format("`{}`", markdown_cell(text));
  }

  static std::string default_kind(const ChoiceSchema& choice, const Schema& schema,
                                  const void* value) {
    const KindSchema& kind = choice.kinds[choice.index(value)];
    const auto fresh = table_of(kind.schema).make();
    const bool own =
        inline_text(kind.schema(), choice.held(value)) == inline_text(kind.schema(), fresh.get());
    if (own) return fmt::format("`\"{}\"`", kind.info.name);
    return fmt::format("`{}`", markdown_cell(inline_text(schema, value)));
  }

  /// Link to the section of a table or choice, which is put on the list when it is new.
  std::string section(const Schema& schema, const void* value, const std::string& name) {
    const auto found = sections_.find(&schema);
    if (found != sections_.end()) return link(found->second.name);
    const auto* table = std::get_if<TableSchema>(&schema.form);
    const Section made{&schema, name, table && !value ? keep(table->make()) : value};
    sections_.emplace(&schema, made);
    pending_.push_back(made);
    return link(name);
  }

  void describe_pending() {
    for (const Section& each : std::exchange(pending_, {})) {
      describe(each);
      describe_pending();
    }
  }

  void describe(const Section& section) {
    text_ += fmt::format("## {}\n\n", section.name);
    if (const auto* table = std::get_if<TableSchema>(&section.schema->form)) {
      return options(*table, section.value, section.name);
    }
    const auto& choice = std::get<ChoiceSchema>(section.schema->form);
    for (const KindSchema& kind : choice.kinds) describe_kind(kind, section.name);
  }

  void describe_kind(const KindSchema& kind, const std::string& name) {
    const KindInfo& info = kind.info;
    text_ += fmt::format("### {} = \"{}\"\n\n", name, info.name);
    if (!info.formula.empty()) text_ += fmt::format("`{}`\n\n", info.formula);
    if (!info.source.empty()) text_ += fmt::format("Source: {}\n\n", info.source);
    const TableSchema& table = table_of(kind.schema);
    options(table, keep(table.make()), name);
  }

  std::string text_;
  std::map<const Schema*, Section> sections_;
  std::vector<Section> pending_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace

std::string reference_page(const Schema& schema) {
  return Page(std::get<TableSchema>(schema.form)).take();
}

}  // namespace ballast
