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
  constexpr Points with_heads{Point::query, Point::key, Point::value, Point::heads};
  for (const auto& [name, point] : EnumNames<Point>::value) {
    if (form.head_norms.has(point) && !with_heads.has(point)) {
      return fmt::format("a norm of each head stands at point \"{}\", which has none", name);
    }
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

/// The ways to permute so many lanes.
double permutations_of(int lanes) { return lanes < 2 ? 1 : lanes * permutations_of(lanes - 1); }

/// What cannot be where lanes are parts of a row; empty where nothing is.
std::string refusal_of_parts(const ResidualForm& form) {
  if (form.norms.has(Point::lane) || form.norms.has(Point::stream)) {
    return "lanes are parts of a row, and a norm stands on one";
  }
  if (form.shortcut.gate || form.branch.gate || form.read.gate) {
    return "lanes are parts of a row, and a gate would read them as rows";
  }
  return {};
}

}  // namespace

std::string refusal_of(const ResidualForm& form, int lanes) {
  const bool parts = form.reads_parts();
  if (const std::string refusal = refusal_of_parts(form); parts && !refusal.empty()) return refusal;
  const std::tuple<const char*, const Coefficient&, int, int> all[] = {
      {"shortcut", form.shortcut, lanes, lanes},
      {"branch", form.branch, 1, lanes},
      {"input", form.input, 1, 1},
      {"read", form.read, parts ? lanes : 1, lanes}};
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
    if (each.gate && each.gate->outer == GateMap::permutations) {
      if (is_shortcut && grid.rows() == 1 && grid.columns() == permutations_of(lanes)) continue;
      return fmt::format(
          "coefficient {} goes through permutations of {} lanes, and has not a "
          "number for each of them",
          name, lanes);
    }
    if (!grid.is_number() && (grid.rows() != rows || grid.columns() != columns)) {
      return fmt::format("coefficient {} is a grid of {} x {}, expected {} x {} for {} lanes", name,
                         grid.rows(), grid.columns(), rows, columns, lanes);
    }
  }
  return misplaced(form, lanes);
}

}  // namespace ballast
