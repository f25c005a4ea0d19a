#include "ballast/verbs/coordinate_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ballast::verbs {
namespace {

constexpr double tolerance = 0.1;  // what few models of one seed can tell

nlohmann::ordered_json json_of(const CoordinateReport& report, std::string_view scale) {
  nlohmann::ordered_json models = nlohmann::json::array(), slopes = nlohmann::json::array();
  for (size_t i = 0; i < report.models.size(); ++i) {
    nlohmann::ordered_json places;
    for (const Coordinate& each : report.models[i]) {
      places[each.place.name()] = {{"size", each.size}, {"change", each.change}};
    }
    models.push_back({{scale, report.scales[i]}, {"places", places}});
  }
  for (const CoordinateSlope& each : report.slopes) {
    slopes.push_back({{"place", each.place.name()},
                      {"size", each.size},
                      {"change", each.change},
                      {"trend", enum_name(trend_of(each.change.back(), tolerance))}});
  }
  return {{"models", models}, {"slopes", slopes}};
}

std::string power_text(double slope) {
  return std::isnan(slope) ? "-" : fmt::format("{:+.3f}", slope);
}

void print_table(const CoordinateReport& report, std::string_view scale, int64_t steps) {
  if (report.models.empty()) return;
  fmt::print("powers of the {} ({:.0f}) in activations after {} updates\n", scale,
             fmt::join(report.scales, ", "), steps);
  fmt::print("{:<44} {:>9} {:>9} {:>9}\n", "place", "at first", "then", "change");
  for (const CoordinateSlope& each : report.slopes) {
    const double change = each.change.back();
    fmt::print("{:<44} {:>9} {:>9} {:>9} {}\n", each.place.name(), power_text(each.size.front()),
               power_text(each.size.back()), power_text(change),
               enum_name(trend_of(change, tolerance)));
  }
  const bool all_still = std::ranges::all_of(report.slopes, [](const CoordinateSlope& each) {
    return trend_of(each.change.back(), tolerance) == Trend::still;
  });
  if (all_still) {
    fmt::print("nothing has changed: the optimizer rests in its first updates; raise --steps\n");
  }
}

}  // namespace

void print_coordinates(const Recipe& recipe, const CoordinateCheck& check,
                       const CoordinateReports& reports, bool json) {
  if (json) {
    const nlohmann::ordered_json all = {{"steps", check.steps},
                                        {"lr", peak_lr(recipe.optimizer)},
                                        {"widths", json_of(reports.width, "width")},
                                        {"depths", json_of(reports.depth, "depth")}};
    fmt::print("{}\n", all.dump(2));
    return;
  }
  print_table(reports.width, "width", check.steps);
  print_table(reports.depth, "depth", check.steps);
}

}  // namespace ballast::verbs
