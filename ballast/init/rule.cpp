#include "ballast/init/rule.h"

#include <fmt/format.h>

#include "ballast/theory/truncated_normal.h"

namespace ballast {

double family_variance(Family family, int64_t fan_in, int64_t fan_out) {
  const auto in = static_cast<double>(fan_in), out = static_cast<double>(fan_out);
  switch (family) {
    case Family::lecun:
      return 1 / in;
    case Family::glorot:
      return 2 / (in + out);
    case Family::he:
      break;
  }
  return 2 / in;
}

Draw gaussian(double std, Truncation truncation, double cut) {
  if (truncation == Truncation::none) return {Distribution::normal, std};
  const double kept = truncation == Truncation::corrected ? 1 : std::sqrt(truncation_share(cut));
  return {.distribution = Distribution::truncated_normal, .std = std * kept, .cut = cut};
}

// Apart from `drawn`, since a recipe is checked without libtorch.
std::string refusal_of(const Draw& draw, int64_t rows, int64_t columns) {
  const int64_t own_rows = rows / draw.stacked;
  if (own_rows % row_blocks(draw.mirror) == 0 && columns % column_blocks(draw.mirror) == 0) {
    return {};
  }
  return fmt::format(
      "a mirrored matrix has {} rows and {} columns; what is mirrored needs an even "
      "number",
      own_rows, columns);
}

}  // namespace ballast
