#include "ballast/options/unknown.h"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/base/suggest.h"

namespace ballast {
namespace {

bool has_option(const TableSchema& table, std::string_view name) {
  return std::any_of(table.options.begin(), table.options.end(),
                     [&](const OptionSchema& option) { return option.name == name; });
}

std::string header(std::string_view table) {
  return table.empty() ? "the top of the recipe" : fmt::format("[{}]", table);
}

std::string owner_words(const Owner& owner, const TomlEntry& entry) {
  if (owner.choice) {
    const std::string_view name = std::string_view(owner.name).substr(owner.name.rfind('.') + 1);
    return fmt::format("an option of {} kind \"{}\"", name,
                       owner.choice->kinds[owner.kind].info.name);
  }
  if (!owner.name.empty()) return fmt::format("an option of [{}]", owner.name);
  const bool is_table = std::holds_alternative<TomlTable>(entry.node.value);
  return is_table ? "a table of the recipe" : "an option of the recipe";
}

std::string kind_with(const ChoiceSchema& choice, std::string_view name) {
  for (const KindSchema& kind : choice.kinds) {
    if (has_option(table_of(kind.schema), name)) {
      return fmt::format("kind \"{}\"", kind.info.name);
    }
  }
  return {};
}

/// The first table, in the order of the recipe, that has an option called `name`.
std::string table_with(const TableSchema& table, const std::string& path, std::string_view name) {
  if (has_option(table, name)) return header(path);
  for (const OptionSchema& option : table.options) {
    const auto* inner = std::get_if<TableSchema>(&option.schema().form);
    if (!inner) continue;
    std::string found = table_with(*inner, joined_name(path, option.name), name);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string unknown_option(const Schema& root, const Owner& owner, const TableSchema& table,
                           const TomlEntry& entry) {
  const std::string what = fmt::format("\"{}\" is not {}", entry.name, owner_words(owner, entry));
  std::vector<std::string> names = table.names();
  if (owner.choice) names.emplace_back("kind");
  if (closest(entry.name, names).empty()) {
    std::string home = owner.choice ? kind_with(*owner.choice, entry.name) : "";
    if (home.empty()) home = table_with(std::get<TableSchema>(root.form), "", entry.name);
    if (!home.empty()) return fmt::format("{}; it belongs to {}", what, home);
  }
  if (names.empty()) return what + ", which has none";
  return what + did_you_mean(entry.name, names);
}

}  // namespace ballast
