#include "ballast/diagnose/gauges.h"

namespace ballast {

const std::vector<Gauge>& gauges() {
  static const std::vector<Gauge> all = {
      {"stream", Quantity::second_moment, Point::stream},
      {"stream_gradient", Quantity::gradient, Point::stream},
      {"branch_share", Quantity::own_share},
      {"attention_logit", Quantity::largest_logit},
      {"attention_entropy", Quantity::entropy},
      {"idle_units", Quantity::idle_units},
      {"row_likeness", Quantity::row_likeness, Point::stack},
      {"logit_deviation", Quantity::row_deviation},
      {"weight_gradient", Quantity::weight_gradient},
  };
  return all;
}

std::vector<Extremes> extremes_of(const Measurements& measurements) {
  std::vector<Extremes> all;
  for (const Gauge& gauge : gauges()) {
    const Measurement* least = measurements.smallest(gauge.quantity, gauge.point);
    const Measurement* most = measurements.largest(gauge.quantity, gauge.point);
    if (most == nullptr) continue;
    all.push_back({&gauge, least->value, most->value, least->spot.name(), most->spot.name()});
  }
  return all;
}

}  // namespace ballast
