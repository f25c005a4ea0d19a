#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ballast {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` by edit distance, empty when none is near enough to be a typo.
std::string closest(std::string_view word, std::span<const std::string> candidates);

/// `; did you mean "x"?` for the nearest candidate, else `; expected one of a, b, c`.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace ballast
