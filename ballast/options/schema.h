#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"

namespace ballast {

/// What an options struct looks like once its C++ types are set aside. Reader, writer, reference
/// page and comparison work on a `Schema` and the address of a value, so that they are compiled
/// once and not once per struct. `schema_of<T>()` makes one from the struct's list of fields.
struct Schema;
using SchemaSource = const Schema& (*)();

/// A value of one word or number, as TOML has it.
using Scalar = std::variant<bool, int64_t, double, std::string>;

/// What a scalar is in a message and in TOML; path and word are strings there.
enum class ScalarType { boolean, whole_number, number, text, path, word };

/// `get` raises RecipeError for a whole number beyond int64.
struct ScalarSchema {
  ScalarType type;
  int64_t lowest, highest;         ///< of a whole number: what its C++ type holds
  std::vector<std::string> words;  ///< of an enumeration: its names
  Scalar (*get)(const void* value);
  void (*set)(void* value, const Scalar& scalar);  ///< `scalar` is what `get` would return
};

/// One option of a table; `offset` is where it lies in its owner, in bytes.
struct OptionSchema {
  std::string_view name, help;
  Bounds bounds;  ///< of a number, or of the numbers in a list
  SchemaSource schema;
  size_t offset;
};

/// An options struct.
struct TableSchema {
  std::vector<OptionSchema> options;
  std::shared_ptr<const void> (*make)();  ///< the struct with its defaults
  /// An option that is read before all others, and what the struct then does; null where none
  /// leads.
  std::string_view leading = {};
  void (*follow_leading)(void* value) = nullptr;

  std::vector<std::string> names() const;
};

struct KindSchema {
  KindInfo info;
  SchemaSource schema;  ///< of the kind's options, a table
};

/// A variant of options structs.
struct ChoiceSchema {
  std::vector<KindSchema> kinds;
  size_t (*index)(const void* value);
  const void* (*held)(const void* value);     ///< address of the held options
  void (*emplace)(void* value, size_t kind);  ///< now holds that kind with its defaults

  std::vector<std::string> names() const;
};

/// A vector, or an array when `fixed_size` is given.
struct ListSchema {
  SchemaSource element;
  std::optional<size_t> fixed_size;
  size_t (*size)(const void* value);
  void (*resize)(void* value, size_t size);  ///< elements get their defaults
  const void* (*at)(const void* value, size_t index);
};

/// An optional value, which the word "none" unsets.
struct OptionalSchema {
  SchemaSource inner;
  const void* (*held)(const void* value);  ///< null when unset
  void* (*set)(void* value);               ///< now holds the default of the inner type
  void (*unset)(void* value);
};

/// One of five forms. All pointers to functions take the address of a value of the described type.
struct Schema {
  std::variant<ScalarSchema, TableSchema, ChoiceSchema, ListSchema, OptionalSchema> form;
};

/// The word that unsets an optional value, unless it is a word or kind of that value itself.
inline constexpr std::string_view unset_word = "none";

/// Calls the one function of `Functions` that takes the form of a schema.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// True when `word` is one of the enumeration's words or the choice's kinds.
bool takes_word(const Schema& schema, std::string_view word);

/// The options of a table, such as those of a kind; `source` gives a table's schema.
const TableSchema& table_of(SchemaSource source);

/// Address of an option in the struct at `owner`.
const void* address_of(const OptionSchema& option, const void* owner);
void* address_of(const OptionSchema& option, void* owner);

/// `train` and `steps` make `train.steps`; an empty owner is the recipe itself.
std::string joined_name(std::string_view owner, std::string_view name);

}  // namespace ballast
