#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ballast {

/// What the catalogue and the error messages say of one kind in a list.
struct KindInfo {
  std::string_view name;     ///< the word a recipe writes after `kind =`
  std::string_view formula;  ///< what it computes, in one line
  std::string_view source;   ///< where it was published
};

/// A choice is a `std::variant` of options structs, each with `static constexpr KindInfo info`.
template <class Variant>
struct ChoiceTraits;

template <class... Kinds>
struct ChoiceTraits<std::variant<Kinds...>> {
  static constexpr std::array<KindInfo, sizeof...(Kinds)> infos{Kinds::info...};

  /// The kind called `name` with its default options, or nothing.
  static std::optional<std::variant<Kinds...>> make(std::string_view name) {
    std::optional<std::variant<Kinds...>> made;
    (void)((Kinds::info.name == name ? (made.emplace(Kinds{}), true) : false) || ...);
    return made;
  }
};

/// One choice of the kinds of several, `Joined<A, B>::Choice`: a list whose families have headers
/// of their own.
template <class... Choices>
struct Joined;
template <class... Kinds>
struct Joined<std::variant<Kinds...>> {
  using Choice = std::variant<Kinds...>;
};
template <class... First, class... Second, class... Rest>
struct Joined<std::variant<First...>, std::variant<Second...>, Rest...>
    : Joined<std::variant<First..., Second...>, Rest...> {};

/// Name, formula and source of the kind a variant holds.
template <class... Kinds>
constexpr const KindInfo& info_of(const std::variant<Kinds...>& choice) {
  return ChoiceTraits<std::variant<Kinds...>>::infos[choice.index()];
}

/// The names of all kinds of a choice, in list order.
template <class Variant>
std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const KindInfo& info : ChoiceTraits<Variant>::infos) names.emplace_back(info.name);
  return names;
}

/// Specialised for an enumeration that a recipe can name: `static constexpr std::array<
/// std::pair<std::string_view, E>, n> value`.
template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = requires {
  EnumNames<E>::value;
};

template <NamedEnum E>
constexpr std::string_view enum_name(E wanted) {
  for (const auto& [name, value] : EnumNames<E>::value) {
    if (value == wanted) return name;
  }
  return {};
}

/// All names, in the order of their list.
template <NamedEnum E>
std::vector<std::string> enum_names() {
  std::vector<std::string> names;
  for (const auto& entry : EnumNames<E>::value) names.emplace_back(entry.first);
  return names;
}

template <NamedEnum E>
constexpr std::optional<E> enum_value(std::string_view wanted) {
  for (const auto& [name, value] : EnumNames<E>::value) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

}  // namespace ballast
