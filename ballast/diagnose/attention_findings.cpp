#include <cmath>

#include "ballast/diagnose/finding_rows.h"

namespace ballast {
namespace {

using Overrides = std::vector<std::string>;

/// The measurement of the same spot.
const Measurement* beside(const Examination& seen, const Measurement& one, Quantity quantity) {
  for (const Measurement* each : seen.measurements.of(quantity)) {
    if (each->spot.site == one.spot.site) return each;
  }
  return nullptr;
}

double second_moment(const Examination& seen, const Measurement& one, Point point) {
  for (const Measurement* each : seen.measurements.of(Quantity::second_moment, point)) {
    if (each->spot.site == one.spot.site) return each->value;
  }
  return 0;
}

double head_width(const Examination& seen) {
  return static_cast<double>(seen.model.d_model) / static_cast<double>(seen.model.heads);
}

// A softmax over logits of deviation s spends s^2 / 2 nats of its entropy; at 2 it looks at a few
// keys, and its gradient, p (1 - p), is lost for the rest.
constexpr double sharp_logits = 2;

std::optional<Evidence> find_unscaled(const Examination& seen) {
  const Measurement* worst = seen.measurements.largest(Quantity::logit_deviation);
  if (worst == nullptr || !(worst->value > sharp_logits)) return std::nullopt;
  const Measurement* factor = beside(seen, *worst, Quantity::score_factor);
  if (factor == nullptr || factor->value < 1.5 || worst->value / factor->value > sharp_logits) {
    return std::nullopt;
  }
  return evidence_of(*worst, "deviation of a row of attention logits",
                     worst->value / factor->value);
}

/// Queries that are made for a product without a factor, which has one all the same.
std::optional<Evidence> find_scaled_twice(const Examination& seen) {
  const double width = head_width(seen);
  for (const Measurement* each : seen.measurements.of(Quantity::logit_deviation)) {
    const Measurement* factor = beside(seen, *each, Quantity::score_factor);
    if (factor == nullptr || factor->value > 1.1 || !each->expected) continue;
    const double queries = second_moment(seen, *each, Point::query);
    const double keys = second_moment(seen, *each, Point::key);
    if (!(queries > 0) || !(keys > 0) || queries / keys > 2 / width) continue;
    return evidence_of(*each, "deviation of a row of attention logits",
                       each->value * std::sqrt(width));
  }
  return std::nullopt;
}

std::optional<Evidence> find_saturated(const Examination& seen) {
  const Measurement* least = seen.measurements.smallest(Quantity::entropy);
  if (least == nullptr || !(least->value < 0.5)) return std::nullopt;
  return evidence_of(*least, "entropy of attention, of the largest it can have", 0.9);
}

Overrides scaled(const Examination&) { return {"model.scores.kind=inverse_sqrt"}; }

}  // namespace

std::vector<FindingRow> attention_findings() {
  return {
      {"attention_not_scaled",
       Severity::error,
       "q k^T is not divided by sqrt(K), so its softmax starts as a choice of one key and passes "
       "no "
       "gradient on",
       "Vaswani et al. 2017, section 3.2.1, arXiv:1706.03762",
       find_unscaled,
       scaled,
       {"attention_saturated", "logits_too_large"}},
      {"attention_scaled_twice", Severity::warning,
       "queries start sqrt(K) smaller, as for a product without a factor, and are divided by "
       "sqrt(K) again: attention starts uniform and learns slowly",
       "Raffel et al. 2020, arXiv:1910.10683", find_scaled_twice,
       [](const Examination&) { return Overrides{"model.scores.kind=none"}; }},
      {"attention_saturated", Severity::warning,
       "attention looks at few keys before it has learned which, and its softmax passes little "
       "gradient",
       "Zhai et al. 2023, arXiv:2303.06296", find_saturated,
       [](const Examination&) { return Overrides{"model.query_key_norm.kind=rms_norm"}; }},
  };
}

}  // namespace ballast
