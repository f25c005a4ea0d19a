#pragma once

#include <array>
#include <concepts>
#include <filesystem>
#include <limits>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/options/schema.h"

namespace ballast {

/// The schema of a struct with `fields()` or of any type such a struct may hold: bool, integers,
/// double, string, path, named enumerations, variants of options structs, and optionals, vectors
/// and arrays of these. Made on first use, never changed; threads may ask for it at the same time.
/// A type of another sort does not compile.
template <class T>
const Schema& schema_of();

namespace schema_detail {

template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;

/// The value of the described type behind an address that a schema was handed.
template <class T>
T& value_at(void* value) {
  return *static_cast<T*>(value);
}

template <class T>
const T& value_at(const void* value) {
  return *static_cast<const T*>(value);
}

template <class T>
constexpr ScalarType scalar_type() {
  if constexpr (std::same_as<T, bool>) return ScalarType::boolean;
  if constexpr (WholeNumber<T>) return ScalarType::whole_number;
  if constexpr (std::same_as<T, double>) return ScalarType::number;
  if constexpr (std::same_as<T, std::filesystem::path>) return ScalarType::path;
  if constexpr (NamedEnum<T>) return ScalarType::word;
  return ScalarType::text;
}

template <class T>
Scalar get_scalar(const void* value) {
  const T& held = value_at<T>(value);
  if constexpr (std::same_as<T, std::filesystem::path>) {
    return held.string();
  } else if constexpr (NamedEnum<T>) {
    return std::string(enum_name(held));
  } else if constexpr (WholeNumber<T>) {
    if (!std::in_range<int64_t>(held)) {
      throw RecipeError("the whole number " + std::to_string(held) +
                        " is too large for a recipe; expected at most 9223372036854775807");
    }
    return static_cast<int64_t>(held);
  } else {
    return held;
  }
}

template <class T>
void set_scalar(void* value, const Scalar& scalar) {
  if constexpr (NamedEnum<T>) {
    value_at<T>(value) = enum_value<T>(std::get<std::string>(scalar)).value();
  } else if constexpr (std::same_as<T, std::filesystem::path>) {
    value_at<T>(value) = std::get<std::string>(scalar);
  } else if constexpr (WholeNumber<T>) {
    value_at<T>(value) = static_cast<T>(std::get<int64_t>(scalar));
  } else {
    value_at<T>(value) = std::get<T>(scalar);
  }
}

/// Makes the schema of a type. This is that of scalars; the other forms are specialisations.
template <class T>
struct Describe {
  static Schema schema() {
    static_assert(std::integral<T> || std::same_as<T, double> || std::same_as<T, std::string> ||
                      std::same_as<T, std::filesystem::path> || NamedEnum<T>,
                  "an option of this type cannot be written in a recipe: give its struct fields(), "
                  "its enumeration EnumNames, or use int64_t, double, std::string");
    ScalarSchema made{scalar_type<T>(), 0, 0, {}, get_scalar<T>, set_scalar<T>};
    if constexpr (WholeNumber<T>) {
      constexpr T most = std::numeric_limits<T>::max();
      made.lowest = static_cast<int64_t>(std::numeric_limits<T>::min());
      made.highest = std::in_range<int64_t>(most) ? static_cast<int64_t>(most)
                                                  : std::numeric_limits<int64_t>::max();
    }
    if constexpr (NamedEnum<T>) made.words = enum_names<T>();
    return {made};
  }
};

/// Offsets are measured on a struct with its defaults, for `offsetof` knows no pointers to members.
template <class T>
TableSchema describe_table() {
  TableSchema made{{}, [] { return std::shared_ptr<const void>(std::make_shared<T>()); }};
  if constexpr (HasFields<T>) {
    const T sample{};
    const auto* start = reinterpret_cast<const std::byte*>(&sample);
    const auto add = [&]<class Value>(const Field<T, Value>& each) {
      const auto* place = reinterpret_cast<const std::byte*>(&(sample.*each.member));
      made.options.push_back({each.name, each.help, each.bounds, schema_of<Value>,
                              static_cast<size_t>(place - start)});
    };
    for_each_field<T>(add);
    if constexpr (requires(T & value) { value.follow_leading(); }) {
      made.leading = T::leading;
      made.follow_leading = [](void* value) { value_at<T>(value).follow_leading(); };
    }
  }
  return made;
}

/// A kind without options needs no `fields()`.
template <class T>
const Schema& table_schema() {
  static const Schema made{describe_table<T>()};
  return made;
}

template <HasFields T>
struct Describe<T> {
  static Schema schema() { return {describe_table<T>()}; }
};

template <class... Kinds>
struct Describe<std::variant<Kinds...>> {
  using Choice = std::variant<Kinds...>;

  static void emplace(void* value, size_t kind) {
    value_at<Choice>(value) = *ChoiceTraits<Choice>::make(ChoiceTraits<Choice>::infos[kind].name);
  }

  static Schema schema() {
    return {ChoiceSchema{{KindSchema{Kinds::info, table_schema<Kinds>}...},
                         [](const void* value) { return value_at<Choice>(value).index(); },
                         [](const void* value) {
                           return std::visit([](const auto& held) -> const void* { return &held; },
                                             value_at<Choice>(value));
                         },
                         emplace}};
  }
};

/// What lists of any and of fixed size have in common; `resize` is theirs to add.
template <class List>
ListSchema describe_list() {
  return {
      schema_of<typename List::value_type>, std::nullopt,
      [](const void* value) { return value_at<List>(value).size(); }, nullptr,
      [](const void* value, size_t index) -> const void* { return &value_at<List>(value)[index]; }};
}

template <class T>
struct Describe<std::vector<T>> {
  static_assert(!std::same_as<T, bool>, "a list of bool has no addressable elements");

  static Schema schema() {
    ListSchema made = describe_list<std::vector<T>>();
    made.resize = [](void* value, size_t size) {
      value_at<std::vector<T>>(value) = std::vector<T>(size);
    };
    return {made};
  }
};

template <class T, size_t count>
struct Describe<std::array<T, count>> {
  static Schema schema() {
    ListSchema made = describe_list<std::array<T, count>>();
    made.fixed_size = count;
    made.resize = [](void*, size_t) {};
    return {made};
  }
};

template <class T>
struct Describe<std::optional<T>> {
  static Schema schema() {
    return {OptionalSchema{
        schema_of<T>,
        [](const void* value) -> const void* {
          const std::optional<T>& held = value_at<std::optional<T>>(value);
          return held ? &*held : nullptr;
        },
        [](void* value) -> void* { return &value_at<std::optional<T>>(value).emplace(); },
        [](void* value) { value_at<std::optional<T>>(value).reset(); }}};
  }
};

}  // namespace schema_detail

template <class T>
const Schema& schema_of() {
  static const Schema made = schema_detail::Describe<T>::schema();
  return made;
}

}  // namespace ballast
