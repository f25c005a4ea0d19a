#pragma once

#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace ballast {

/// The values a number may take; both ends belong to it unless `open` says otherwise.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;
  bool open_high = false;

  constexpr bool contains(double value) const {
    const bool above = open_low ? value > low : value >= low;
    const bool below = open_high ? value < high : value <= high;
    return above && below;
  }
};

inline constexpr Bounds any_value{};
inline constexpr Bounds at_least_zero{.low = 0};
inline constexpr Bounds at_least_one{.low = 1};
inline constexpr Bounds positive{.low = 0, .open_low = true};
inline constexpr Bounds probability{.low = 0, .high = 1, .open_high = true};  ///< [0, 1)

/// One option of an options struct: its name in a recipe, where it lives, what it means (with
/// unit).
template <class Owner, class Value>
struct Field {
  std::string_view name;
  Value Owner::*member;
  std::string_view help;
  Bounds bounds;
};

template <class Owner, class Value>
constexpr Field<Owner, Value> field(std::string_view name, Value Owner::*member,
                                    std::string_view help, Bounds bounds = any_value) {
  return {name, member, help, bounds};
}

/// An options struct lists its options once, in `static constexpr auto fields()`, a tuple of
/// `Field`. The reader, the writer, `--set`, the error messages and the reference page all walk
/// that list.
template <class T>
concept HasFields = requires {
  T::fields();
};

/// Calls `visit(field)` for every field of `T`, in the order of its list.
template <HasFields T, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... each) { (visit(each), ...); }, T::fields());
}

}  // namespace ballast
