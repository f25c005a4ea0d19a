#include "ballast/options/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ballast/base/suggest.h"
#include "ballast/options/words.h"

namespace ballast {
namespace {

/// A value to be set: what it may be, where it lies, its dotted name.
struct Slot {
  const Schema& schema;
  void* value;
  Bounds bounds;
  std::string name;
};

/// The schema hands out addresses inside a value as const; the reader's value is its caller's to
/// change.
void* writable(const void* inside) { return const_cast<void*>(inside); }

std::optional<int64_t> whole(const toml::node& node) {
  if (const auto value = node.value_exact<int64_t>()) return *value;
  constexpr double exact = 9007199254740992.0;  // beyond 2^53 a double skips whole numbers
  const auto value = node.value_exact<double>();
  if (!value || std::trunc(*value) != *value || std::abs(*value) > exact) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<Scalar> scalar_from(ScalarType type, const toml::node& node) {
  switch (type) {
    case ScalarType::boolean:
      if (const auto value = node.value_exact<bool>()) return *value;
      return std::nullopt;
    case ScalarType::whole_number:
      if (const auto value = whole(node)) return *value;
      return std::nullopt;
    case ScalarType::number:
      if (const auto value = node.value_exact<double>()) return *value;
      if (const auto value = node.value_exact<int64_t>()) return static_cast<double>(*value);
      return std::nullopt;
    default:
      if (auto value = node.value_exact<std::string>()) return *std::move(value);
      return std::nullopt;
  }
}

/// The table whose options are being read: its dotted name (empty for the recipe itself) and, where
/// it is a choice, the kind it holds.
struct Owner {
  std::string name;
  const ChoiceSchema* choice = nullptr;
  size_t kind = 0;
};

bool has_option(const TableSchema& table, std::string_view name) {
  return std::any_of(table.options.begin(), table.options.end(),
                     [&](const OptionSchema& option) { return option.name == name; });
}

std::string header(std::string_view table) {
  return table.empty() ? "the top of the recipe" : fmt::format("[{}]", table);
}

std::string owner_words(const Owner& owner, const toml::node& value) {
  if (owner.choice) {
    const std::string_view name = std::string_view(owner.name).substr(owner.name.rfind('.') + 1);
    return fmt::format("an option of {} kind \"{}\"", name,
                       owner.choice->kinds[owner.kind].info.name);
  }
  if (!owner.name.empty()) return fmt::format("an option of [{}]", owner.name);
  return value.is_table() ? "a table of the recipe" : "an option of the recipe";
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

/// How to go on where a name is no option of `table`: the kind or the table it belongs to, unless
/// another is nearer, else the nearest name, else all names.
std::string advice(const Schema& root, const Owner& owner, const TableSchema& table,
                   std::string_view name) {
  std::vector<std::string> names = table.names();
  if (owner.choice) names.emplace_back("kind");
  if (closest(name, names).empty()) {
    std::string home = owner.choice ? kind_with(*owner.choice, name) : "";
    if (home.empty()) home = table_with(std::get<TableSchema>(root.form), "", name);
    if (!home.empty()) return "; it belongs to " + home;
  }
  return names.empty() ? ", which has none" : did_you_mean(name, names);
}

class Reader {
 public:
  Reader(const Schema& root, std::vector<Problem>& problems) : root_(root), problems_(problems) {}

  void read(const Slot& slot, const toml::node& node) {
    std::visit([&](const auto& form) { read_form(form, slot, node); }, slot.schema.form);
  }

  /// Sets the options that `entries` name, except `kind`, which a choice has read before.
  void read_options(const TableSchema& table, const Owner& owner, void* value,
                    const toml::table& entries) {
    const toml::node* leading = table.follow_leading ? entries.get(table.leading) : nullptr;
    if (leading) {
      const auto option = std::ranges::find(table.options, table.leading, &OptionSchema::name);
      read({option->schema(), address_of(*option, value), option->bounds,
            joined_name(owner.name, option->name)},
           *leading);
      table.follow_leading(value);
    }
    for (const auto& [key, node] : entries) {
      const std::string_view name = key.str();
      if ((owner.choice && name == "kind") || &node == leading) continue;
      const auto option = std::find_if(table.options.begin(), table.options.end(),
                                       [&](const OptionSchema& each) { return each.name == name; });
      if (option == table.options.end()) {
        report(key.source(), fmt::format("\"{}\" is not {}{}", name, owner_words(owner, node),
                                         advice(root_, owner, table, name)));
        continue;
      }
      read({option->schema(), address_of(*option, value), option->bounds,
            joined_name(owner.name, name)},
           node);
    }
  }

 private:
  void read_form(const ScalarSchema& schema, const Slot& slot, const toml::node& node) {
    const std::optional<Scalar> scalar = scalar_from(schema.type, node);
    if (!scalar) return unexpected(slot, node);
    if (const auto* word = std::get_if<std::string>(&*scalar)) {
      const bool unknown = schema.type == ScalarType::word && !takes_word(slot.schema, *word);
      if (unknown) return unknown_word(slot, node, *word, schema.words);
    }
    if (!in_bounds(schema, *scalar, slot, node)) return;
    schema.set(slot.value, *scalar);
  }

  void read_form(const TableSchema& schema, const Slot& slot, const toml::node& node) {
    const toml::table* entries = node.as_table();
    if (!entries) return unexpected(slot, node);
    read_options(schema, {slot.name}, slot.value, *entries);
  }

  void read_form(const ChoiceSchema& schema, const Slot& slot, const toml::node& node) {
    const toml::table* entries = node.as_table();
    const toml::node* kind = entries ? entries->get("kind") : &node;
    if (kind && !choose(schema, slot, *kind)) return;
    if (!entries) return;
    const size_t held = schema.index(slot.value);
    read_options(table_of(schema.kinds[held].schema), {slot.name, &schema, held},
                 writable(schema.held(slot.value)), *entries);
  }

  bool choose(const ChoiceSchema& schema, const Slot& slot, const toml::node& kind) {
    const auto name = kind.value_exact<std::string>();
    if (!name) {
      unexpected(slot, kind);
      return false;
    }
    const std::vector<std::string> names = schema.names();
    const auto found = std::find(names.begin(), names.end(), *name);
    if (found == names.end()) {
      report(kind.source(), fmt::format("\"{}\" is not a kind of {}{}", *name, slot.name,
                                        did_you_mean(*name, names)));
      return false;
    }
    const auto index = static_cast<size_t>(found - names.begin());
    if (schema.index(slot.value) != index) schema.emplace(slot.value, index);
    return true;
  }

  void read_form(const ListSchema& schema, const Slot& slot, const toml::node& node) {
    const toml::array* elements = node.as_array();
    if (!elements) return unexpected(slot, node);
    if (schema.fixed_size && elements->size() != *schema.fixed_size) return unexpected(slot, node);
    schema.resize(slot.value, elements->size());
    for (size_t i = 0; i < elements->size(); ++i) {
      read({schema.element(), writable(schema.at(slot.value, i)), slot.bounds,
            fmt::format("{}[{}]", slot.name, i)},
           (*elements)[i]);
    }
  }

  void read_form(const OptionalSchema& schema, const Slot& slot, const toml::node& node) {
    const Schema& inner = schema.inner();
    const bool unsets = node.value_exact<std::string_view>() == unset_word;
    if (unsets && !takes_word(inner, unset_word)) return schema.unset(slot.value);
    const void* held = schema.held(slot.value);
    void* value = held ? writable(held) : schema.set(slot.value);
    read({inner, value, slot.bounds, slot.name}, node);
  }

  bool in_bounds(const ScalarSchema& schema, const Scalar& scalar, const Slot& slot,
                 const toml::node& node) {
    const auto* whole = std::get_if<int64_t>(&scalar);
    const auto* number = std::get_if<double>(&scalar);
    if (!whole && !number) return true;
    const bool finite = whole || std::isfinite(*number);
    const bool inside = slot.bounds.contains(whole ? static_cast<double>(*whole) : *number);
    const bool fits = !whole || (*whole >= schema.lowest && *whole <= schema.highest);
    if (inside && fits && finite) return true;
    std::string range = bounds_words(slot.bounds);
    if (inside && !fits) range = fmt::format("from {} to {}", schema.lowest, schema.highest);
    if (!finite && (inside || range.empty())) range = "that is finite";
    report(node.source(),
           fmt::format("{}: found {}, expected {}{}{}", slot.name, found_words(node),
                       expected_words(slot.schema), range.empty() ? "" : " ", range));
    return false;
  }

  void unexpected(const Slot& slot, const toml::node& node) {
    report(node.source(), fmt::format("{}: found {}, expected {}", slot.name, found_words(node),
                                      expected_words(slot.schema)));
  }

  void unknown_word(const Slot& slot, const toml::node& node, std::string_view word,
                    const std::vector<std::string>& words) {
    report(node.source(), fmt::format("\"{}\" is not a value of {}{}", word, slot.name,
                                      did_you_mean(word, words)));
  }

  void report(const toml::source_region& where, std::string what) {
    problems_.push_back({place_of(where), std::move(what)});
  }

  const Schema& root_;
  std::vector<Problem>& problems_;
};

}  // namespace

std::vector<Problem> read_document(const Document& document, const Schema& schema, void* value) {
  std::vector<Problem> problems = document.problems;
  Reader(schema, problems)
      .read_options(std::get<TableSchema>(schema.form), {}, value, document.root);
  return problems;
}

}  // namespace ballast
