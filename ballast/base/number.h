#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace ballast {

/// The whole number that a text is, all of it; nothing where it is none or out of the type's range.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace ballast
