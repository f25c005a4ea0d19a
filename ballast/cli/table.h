#pragma once

#include <string>
#include <vector>

namespace ballast {

/// Rows of cells as lines, each column as wide as its widest cell. All rows have as many cells.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace ballast
