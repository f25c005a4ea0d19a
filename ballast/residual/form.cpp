#include "ballast/residual/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace ballast {
namespace {

/// A point at which the form puts something that no module would apply; empty when there is none.
std::string misplaced(const ResidualForm& form, int lanes) {
  constexpr Points of_connections{Point::read,  Point::branch, Point::stream,
                                  Point::query, Point::key,    Point::value,
                                  Point::heads, Point::gate,   Point::hidden};
  for (const auto& [name, point] : EnumNames<Point>::value) {
    const bool norm = form.norms.has(point), shift = form.shifts.has(point);
    const bool factor = std::ranges::count(form.factors, point, &PointFactor::point) > 0;
    if (of_connections.has(point) || (!norm && !shift && !factor)) continue;
    if (point == Point::lane && lanes > 1 && !shift && !factor) continue;
    return fmt::format("a {} stands at point \"{}\", where a connection{} has none",
                       norm ? "norm" : (factor ? "factor" : "shift"), name,
                       point == Point::lane && lanes == 1 ? " with one lane" : "");
  }
  return {};
}

}  // namespace

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
    if (each.gate && (lanes == 1 || &each == &form.input)) {
      return fmt::format("coefficient {} has a gate; only those between several lanes can have one",
                         name);
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
  return misplaced(form, lanes);
}

}  // namespace ballast
