#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "ballast/base/error.h"
#include "ballast/base/suggest.h"
#include "ballast/cli/verbs.h"
#include "ballast/options/catalogue.h"
#include "ballast/options/load.h"
#include "ballast/options/words.h"
#include "ballast/options/writer.h"
#include "ballast/recipe/recipe.h"
#include "ballast/values/foldable.h"

namespace ballast {
namespace {

struct Flags {
  std::string name;
  bool json = false, markdown = false;
};

/// Whether a model with this kind, and else the defaults, can be folded; nothing where the kind is
/// no part of a model.
struct Folds {
  bool asked = false;
  std::string refusal;

  std::string word() const {
    if (!asked) return "";
    return refusal.empty() ? "folds" : "does not fold";
  }
};

Folds folds(const CatalogueEntry& entry) {
  if (!entry.list.starts_with("model.")) return {};
  const std::string set = fmt::format("{}.kind={}", entry.list, entry.info.name);
  const auto recipe = read_text<Recipe>("", "", std::vector{set}).value;
  return {true, refusal_to_fold(recipe.model)};
}

/// Calls `each` for every entry, and `list` before the first of a list.
template <class List, class Each>
void for_each_entry(const std::vector<CatalogueEntry>& entries, const List& list,
                    const Each& each) {
  std::string_view last;
  for (const CatalogueEntry& entry : entries) {
    if (entry.list != last) list(entry.list);
    last = entry.list;
    each(entry);
  }
}

void print_table(const std::vector<CatalogueEntry>& entries) {
  size_t width = 0;
  for (const CatalogueEntry& each : entries) width = std::max(width, each.info.name.size());
  for_each_entry(
      entries, [](const std::string& list) { fmt::print("\n{}\n", list); },
      [&](const CatalogueEntry& each) {
        fmt::print("  {:{}}  {}\n", each.info.name, width, each.info.formula);
      });
  fmt::print("\nballast methods NAME shows options and sources.\n");
}

void print_markdown(const std::vector<CatalogueEntry>& entries) {
  fmt::print(
      "# Methods\n\nEvery method that a recipe can name, by the option that takes it. A model that "
      "folds can be turned\ninto a plain one with the same outputs (`ballast fold`); the column "
      "speaks of a translation model whose\nother options are the defaults. Options of each are "
      "in the [recipe reference](recipe_reference.md).\n");
  for_each_entry(
      entries,
      [](const std::string& list) {
        const bool is_of_model = list.starts_with("model.");
        fmt::print("\n## {}\n\n| name | formula | source |{}\n|---|---|---|{}\n", list,
                   is_of_model ? " folds |" : "", is_of_model ? "---|" : "");
      },
      [](const CatalogueEntry& each) {
        const Folds found = folds(each);
        const std::string last =
            found.refusal.empty() ? " yes |" : fmt::format(" no: {} |", found.refusal);
        fmt::print("| `{}` | `{}` | {} |{}\n", each.info.name, markdown_cell(each.info.formula),
                   markdown_cell(each.info.source), found.asked ? last : "");
      });
}

nlohmann::ordered_json json_of(const CatalogueEntry& entry) {
  nlohmann::ordered_json json{{"list", entry.list},
                              {"name", entry.info.name},
                              {"formula", entry.info.formula},
                              {"source", entry.info.source}};
  const auto defaults = entry.options->make();
  json["options"] = nlohmann::ordered_json::array();
  for (const OptionSchema& each : entry.options->options) {
    const std::string value = inline_text(each.schema(), address_of(each, defaults.get()));
    json["options"].push_back({{"name", each.name}, {"default", value}, {"meaning", each.help}});
  }
  if (const Folds found = folds(entry); found.asked) {
    json["folds"] = found.refusal.empty();
    if (!found.refusal.empty()) json["why_not"] = found.refusal;
  }
  return json;
}

void print_json(const std::vector<CatalogueEntry>& entries) {
  auto all = nlohmann::ordered_json::array();
  for (const CatalogueEntry& each : entries) all.push_back(json_of(each));
  fmt::print("{}\n", all.dump(2));
}

void print_method(const CatalogueEntry& entry) {
  fmt::print("{} = \"{}\"\n  {}\n", entry.list, entry.info.name, entry.info.formula);
  if (!entry.info.source.empty()) fmt::print("  {}\n", entry.info.source);
  const Folds found = folds(entry);
  if (found.asked) {
    fmt::print("  {}{}\n", found.word(), found.refusal.empty() ? "" : ": " + found.refusal);
  }
  const auto defaults = entry.options->make();
  for (const OptionSchema& each : entry.options->options) {
    fmt::print("  {} = {}  ({}; {})\n", each.name,
               inline_text(each.schema(), address_of(each, defaults.get())), each.help,
               bounds_words(each.bounds));
  }
}

std::vector<CatalogueEntry> named(const std::vector<CatalogueEntry>& all, const std::string& name) {
  std::vector<CatalogueEntry> found;
  std::vector<std::string> names;
  for (const CatalogueEntry& each : all) {
    names.emplace_back(each.info.name);
    if (each.info.name == name || each.list == name) found.push_back(each);
  }
  if (found.empty()) {
    throw RecipeError(fmt::format("there is no method \"{}\"{}", name, did_you_mean(name, names)));
  }
  return found;
}

void show(const Flags& flags) {
  std::vector<CatalogueEntry> entries = catalogue(schema_of<Recipe>());
  if (!flags.name.empty()) entries = named(entries, flags.name);
  if (flags.json) return print_json(entries);
  if (flags.markdown) return print_markdown(entries);
  if (flags.name.empty()) return print_table(entries);
  for (const CatalogueEntry& each : entries) print_method(each);
}

}  // namespace

void add_methods(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "methods", "List every method a recipe can name: formula, source, options, whether it folds");
  verb->add_option("NAME", flags->name, "A method, or the option of a recipe that takes it");
  verb->add_flag("--json", flags->json, "Print a list of objects");
  verb->add_flag("--markdown", flags->markdown, "Print the page docs/methods.md")
      ->excludes("--json");
  verb->footer("Examples: ballast methods; ballast methods admin; ballast methods model.residual");
  verb->callback([flags] { show(*flags); });
}

}  // namespace ballast
