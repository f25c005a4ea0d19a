#include "ballast/residual/form.h"

#include <fmt/format.h>

#include <tuple>

namespace ballast {

std::string refusal_of(const ResidualForm& form, int lanes) {
  const std::tuple<const char*, const Coefficient&, int, int> all[] = {
      {"shortcut", form.shortcut, lanes, lanes},
      {"branch", form.branch, 1, lanes},
      {"input", form.input, 1, 1},
      {"read", form.read, 1, lanes}};
  for (const auto& [name, each, rows, columns] : all) {
    const Grid& grid = each.start;
    const bool is_shortcut = &each == &form.shortcut;
    if (each.profiled && (!is_shortcut || lanes > 1)) {
      return fmt::format("coefficient {} is profiled; only the shortcut of one lane can be", name);
    }
    if (each.extent == Extent::heads) {
      return fmt::format("coefficient {} has a number per head; the stream has no heads", name);
    }
    if (each.extent == Extent::features && lanes > 1) {
      return fmt::format("coefficient {} has a number per feature, and the stream {} lanes", name,
                         lanes);
    }
    if (!grid.is_number() && (grid.rows() != rows || grid.columns() != columns)) {
      return fmt::format("coefficient {} is a grid of {} x {}, expected {} x {} for {} lanes", name,
                         grid.rows(), grid.columns(), rows, columns, lanes);
    }
  }
  return {};
}

}  // namespace ballast
