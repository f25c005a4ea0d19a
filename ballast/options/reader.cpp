#include "ballast/options/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ballast/base/suggest.h"
#include "ballast/options/unknown.h"
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

std::optional<int64_t> whole(const TomlNode& node) {
  if (const auto* value = std::get_if<int64_t>(&node.value)) return *value;
  constexpr double exact = 9007199254740992.0;  // beyond 2^53 a double skips whole numbers
  const auto* value = std::get_if<double>(&node.value);
  if (!value || std::trunc(*value) != *value || std::abs(*value) > exact) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<Scalar> scalar_from(ScalarType type, const TomlNode& node) {
  switch (type) {
    case ScalarType::boolean:
      if (const auto* value = std::get_if<bool>(&node.value)) return *value;
      return std::nullopt;
    case ScalarType::whole_number:
      if (const auto value = whole(node)) return *value;
      return std::nullopt;
    case ScalarType::number:
      if (const auto* value = std::get_if<double>(&node.value)) return *value;
      if (const auto* value = std::get_if<int64_t>(&node.value)) return static_cast<double>(*value);
      return std::nullopt;
    default:
      if (const auto* value = std::get_if<std::string>(&node.value)) return *value;
      return std::nullopt;
  }
}

class Reader {
 public:
  Reader(const Schema& root, std::vector<Problem>& problems) : root_(root), problems_(problems) {}

  void read(const Slot& slot, const TomlNode& node) {
    std::visit([&](const auto& form) { read_form(form, slot, node); }, slot.schema.form);
  }

  /// Sets the options that `entries` name, except `kind`, which a choice has read before.
  void read_options(const TableSchema& table, const Owner& owner, void* value,
                    const TomlTable& entries) {
    for (const TomlEntry& entry : entries) {
      if (owner.choice && entry.name == "kind") continue;
      const auto option =
          std::find_if(table.options.begin(), table.options.end(),
                       [&](const OptionSchema& each) { return each.name == entry.name; });
      if (option == table.options.end()) {
        problems_.push_back({entry.place, unknown_option(root_, owner, table, entry)});
        continue;
      }
      read({option->schema(), address_of(*option, value), option->bounds,
            joined_name(owner.name, entry.name)},
           entry.node);
    }
  }

 private:
  void read_form(const ScalarSchema& schema, const Slot& slot, const TomlNode& node) {
    const std::optional<Scalar> scalar = scalar_from(schema.type, node);
    if (!scalar) return unexpected(slot, node);
    if (const auto* word = std::get_if<std::string>(&*scalar)) {
      const bool unknown = schema.type == ScalarType::word && !takes_word(slot.schema, *word);
      if (unknown) return unknown_word(slot, node, *word, schema.words);
    }
    if (!in_bounds(schema, *scalar, slot, node)) return;
    schema.set(slot.value, *scalar);
  }

  void read_form(const TableSchema& schema, const Slot& slot, const TomlNode& node) {
    const auto* entries = std::get_if<TomlTable>(&node.value);
    if (!entries) return unexpected(slot, node);
    read_options(schema, {slot.name}, slot.value, *entries);
  }

  void read_form(const ChoiceSchema& schema, const Slot& slot, const TomlNode& node) {
    const auto* entries = std::get_if<TomlTable>(&node.value);
    const TomlNode* kind = &node;
    if (entries) {
      const TomlEntry* entry = find_entry(*entries, "kind");
      kind = entry ? &entry->node : nullptr;
    }
    if (kind && !choose(schema, slot, *kind)) return;
    if (!entries) return;
    const size_t held = schema.index(slot.value);
    read_options(table_of(schema.kinds[held].schema), {slot.name, &schema, held},
                 writable(schema.held(slot.value)), *entries);
  }

  bool choose(const ChoiceSchema& schema, const Slot& slot, const TomlNode& kind) {
    const auto* name = std::get_if<std::string>(&kind.value);
    if (!name) {
      unexpected(slot, kind);
      return false;
    }
    const std::vector<std::string> names = schema.names();
    const auto found = std::find(names.begin(), names.end(), *name);
    if (found == names.end()) {
      problems_.push_back({kind.place, fmt::format("\"{}\" is not a kind of {}{}", *name, slot.name,
                                                   did_you_mean(*name, names))});
      return false;
    }
    const auto index = static_cast<size_t>(found - names.begin());
    if (schema.index(slot.value) != index) schema.emplace(slot.value, index);
    return true;
  }

  void read_form(const ListSchema& schema, const Slot& slot, const TomlNode& node) {
    const auto* elements = std::get_if<TomlNode::List>(&node.value);
    if (!elements) return unexpected(slot, node);
    if (schema.fixed_size && elements->size() != *schema.fixed_size) return unexpected(slot, node);
    schema.resize(slot.value, elements->size());
    for (size_t i = 0; i < elements->size(); ++i) {
      read({schema.element(), writable(schema.at(slot.value, i)), slot.bounds,
            fmt::format("{}[{}]", slot.name, i)},
           (*elements)[i]);
    }
  }

  void read_form(const OptionalSchema& schema, const Slot& slot, const TomlNode& node) {
    const auto* word = std::get_if<std::string>(&node.value);
    const Schema& inner = schema.inner();
    if (word && *word == unset_word && !takes_word(inner, unset_word))
      return schema.unset(slot.value);
    const void* held = schema.held(slot.value);
    void* value = held ? writable(held) : schema.set(slot.value);
    read({inner, value, slot.bounds, slot.name}, node);
  }

  bool in_bounds(const ScalarSchema& schema, const Scalar& scalar, const Slot& slot,
                 const TomlNode& node) {
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
    problems_.push_back(
        {node.place, fmt::format("{}: found {}, expected {}{}{}", slot.name, found_words(node),
                                 expected_words(slot.schema), range.empty() ? "" : " ", range)});
    return false;
  }

  void unexpected(const Slot& slot, const TomlNode& node) {
    problems_.push_back({node.place, fmt::format("{}: found {}, expected {}", slot.name,
                                                 found_words(node), expected_words(slot.schema))});
  }

  void unknown_word(const Slot& slot, const TomlNode& node, std::string_view word,
                    const std::vector<std::string>& words) {
    problems_.push_back({node.place, fmt::format("\"{}\" is not a value of {}{}", word, slot.name,
                                                 did_you_mean(word, words))});
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
