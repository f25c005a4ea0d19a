#include "ballast/metrics/references.h"

#include <fmt/format.h>

#include "ballast/base/error.h"

namespace ballast {

void check_line_counts(size_t hypotheses, std::span<const std::vector<std::string>> references) {
  if (references.empty()) throw DataError("no reference to score against; give at least one");
  for (size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses) continue;
    throw DataError(fmt::format(
        "reference {} has {} lines, but there are {} hypotheses; line n of each must be the same "
        "sentence",
        r + 1, references[r].size(), hypotheses));
  }
}

std::vector<std::string_view> references_of_line(
    std::span<const std::vector<std::string>> references, size_t line) {
  std::vector<std::string_view> lines;
  for (const std::vector<std::string>& reference : references) lines.emplace_back(reference[line]);
  return lines;
}

}  // namespace ballast
