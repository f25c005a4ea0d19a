#include "ballast/diagnose/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

const Measurement* most(const std::vector<const Measurement*>& all, double sign) {
  const auto rank = [&](const Measurement* each) {
    return std::isnan(each->value) ? INFINITY : sign * each->value;
  };
  const auto found = std::ranges::max_element(all, {}, rank);
  return found == all.end() ? nullptr : *found;
}

}  // namespace

std::string Spot::name() const {
  if (!parameter.empty()) return parameter;
  if (site) {
    return fmt::format("{}.{}.{}.{}", enum_name(site->stack), site->layer, enum_name(site->kind),
                       enum_name(point));
  }
  if (stack) return fmt::format("{}.{}", enum_name(*stack), enum_name(point));
  return std::string(enum_name(point));
}

std::vector<const Measurement*> Measurements::of(Quantity quantity,
                                                 std::optional<Point> point) const {
  std::vector<const Measurement*> found;
  for (const Measurement& each : all_) {
    if (each.quantity == quantity && (!point || each.spot.point == *point)) found.push_back(&each);
  }
  return found;
}

const Measurement* Measurements::largest(Quantity quantity, std::optional<Point> point) const {
  return most(of(quantity, point), 1);
}

const Measurement* Measurements::smallest(Quantity quantity, std::optional<Point> point) const {
  return most(of(quantity, point), -1);
}

}  // namespace ballast
