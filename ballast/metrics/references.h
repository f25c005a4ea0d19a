#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// Throws `DataError`, naming both counts, unless every reference has `hypotheses` lines and there
/// is at least one reference.
void check_line_counts(size_t hypotheses, std::span<const std::vector<std::string>> references);

/// Line `line` of every reference.
std::vector<std::string_view> references_of_line(
    std::span<const std::vector<std::string>> references, size_t line);

}  // namespace ballast
