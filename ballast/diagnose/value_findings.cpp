#include <cmath>

#include "ballast/diagnose/finding_rows.h"

namespace ballast {
namespace {

using Overrides = std::vector<std::string>;

Overrides nothing(const Examination&) { return {}; }

std::optional<Evidence> find_not_finite(const Examination& seen) {
  const Measurement* worst = seen.measurements.largest(Quantity::not_finite);
  if (worst == nullptr) return std::nullopt;
  return evidence_of(*worst, "elements that are NaN or infinite", 0);
}

std::optional<Evidence> find_twins(const Examination& seen) {
  const auto twins = seen.measurements.of(Quantity::twins);
  if (twins.empty()) return std::nullopt;
  return Evidence{twins.front()->spot.name(), "pairs of parameters that hold the same values",
                  static_cast<double>(twins.size()), 0};
}

/// What is left of the deviation where a cut at two is not made up for.
constexpr double uncorrected_cut = 0.87962566103423978;

/// Weights that are farther from their plan than their number explains: the deviation of n draws
/// is off by 1/sqrt(2 n), a little more for long tails.
const Measurement* off_plan(const Examination& seen, double ratio, double tolerance) {
  for (const Measurement* each : seen.measurements.of(Quantity::weight_size)) {
    if (std::abs(each->value / ratio - 1) < tolerance) return each;
  }
  return nullptr;
}

std::optional<Evidence> find_uncorrected_cut(const Examination& seen) {
  const Measurement* found = off_plan(seen, uncorrected_cut, 0.01);
  if (found == nullptr) return std::nullopt;
  return evidence_of(*found, "deviation over the planned one", 1);
}

std::optional<Evidence> find_off_plan(const Examination& seen) {
  constexpr double tolerance = 0.1;
  for (const Measurement* each : seen.measurements.of(Quantity::weight_size)) {
    if (std::abs(each->value - 1) > tolerance) {
      return evidence_of(*each, "deviation over the planned one", 1);
    }
  }
  return std::nullopt;
}

double at_site(const Examination& seen, Quantity quantity, Point point, const ResidualSite& site) {
  for (const Measurement* each : seen.measurements.of(quantity, point)) {
    if (each->spot.site == site) return each->value;
  }
  return 0;
}

/// A branch that gives nothing and learns nothing, though the loss asks something of its sum. One
/// whose factor alone is 0, as ReZero's, gives something: its factor learns.
std::optional<Evidence> find_dead_branch(const Examination& seen) {
  for (const Measurement* each : seen.measurements.of(Quantity::weight_gradient)) {
    const ResidualSite& site = *each->spot.site;
    const double asked = at_site(seen, Quantity::gradient, Point::stream, site);
    const double given = at_site(seen, Quantity::second_moment, Point::branch, site);
    if (each->value != 0 || given != 0 || !(asked > 0)) continue;
    return evidence_of(*each, "gradient of all that the branch is made of, that of its sum being",
                       asked);
  }
  return std::nullopt;
}

}  // namespace

std::vector<FindingRow> value_findings() {
  return {
      {"not_finite", Severity::error, "a number that is not finite spreads to all that reads it",
       "", find_not_finite, nothing},
      {"layers_start_equal",
       Severity::error,
       "layers that hold the same values get the same gradients and stay equal: the depth is "
       "wasted",
       "Glorot and Bengio 2010",
       find_twins,
       nothing,
       {"weights_off_plan"}},
      {"uncorrected_truncation",
       Severity::warning,
       "a normal cut at two deviations keeps 0.8796 of its deviation; twelve layers keep 0.2 of "
       "their signal",
       "METHODS 1.2; Hendrycks and Gimpel 2016, arXiv:1606.08415",
       find_uncorrected_cut,
       [](const Examination&) { return Overrides{"init.kind=fairseq"}; },
       {"weights_off_plan"}},
      {"weights_off_plan", Severity::warning,
       "a weight acts with another deviation than its initialisation asks for, as where a fused "
       "matrix takes the fan of the whole",
       "", find_off_plan, nothing},
      {"branch_without_gradient", Severity::error,
       "a branch whose both ends are 0 gets no gradient and never leaves 0",
       "Zhang et al. 2019, arXiv:1901.09321", find_dead_branch, nothing},
  };
}

}  // namespace ballast
