#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/diagnose/measurement.h"

namespace ballast {

// A training is looked at now and then, and what was seen is kept by the extremes of each quantity.

/// A quantity that is watched while a model trains, and what logs call it.
struct Gauge {
  std::string_view name;
  Quantity quantity;
  std::optional<Point> point = {};  ///< absent: at every point
};
const std::vector<Gauge>& gauges();

/// Smallest and largest of a gauge over the model, and where.
struct Extremes {
  const Gauge* gauge = nullptr;
  double smallest = 0, largest = 0;
  std::string where_smallest, where_largest;
};

/// Of the gauges that measured something.
std::vector<Extremes> extremes_of(const Measurements& measurements);

/// A training after so many updates.
struct Sample {
  int64_t step = 0;
  std::vector<Extremes> extremes;
};
using History = std::vector<Sample>;  ///< in the order of steps

}  // namespace ballast
