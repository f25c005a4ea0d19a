#include "ballast/data/masking_options.h"

#include <fmt/format.h>

namespace ballast {

std::string refusal_of(const MaskingOptions& options) {
  if (options.masked + options.random <= 1 + 1e-12) return {};
  return fmt::format(
      "data.masking.masked = {} and data.masking.random = {} are more than all that is predicted; "
      "expected at most 1 together",
      options.masked, options.random);
}

}  // namespace ballast
