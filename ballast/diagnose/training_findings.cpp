#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ballast/diagnose/finding_rows.h"

namespace ballast {
namespace {

using Overrides = std::vector<std::string>;

Overrides lower_rate(const Examination& seen) {
  return {fmt::format("optimizer.lr={:.2g}", seen.sharpness->largest_rate / 2)};
}

/// A first rate that is more than `times` the largest stable one.
std::optional<Evidence> first_rate_above(const Examination& seen, double times) {
  if (!seen.sharpness || !(seen.training.first_lr > times * seen.sharpness->largest_rate)) {
    return std::nullopt;
  }
  return Evidence{"step 1", "learning rate, the largest stable one being", seen.training.first_lr,
                  seen.sharpness->largest_rate};
}

/// Updates as long as the gradient overshoot ever further, unless they are clipped.
bool can_run_away(const Examination& seen) {
  return seen.training.update == UpdateSize::gradient && seen.training.clip_norm == 0;
}

std::optional<Evidence> find_unstable_rate(const Examination& seen) {
  return can_run_away(seen) ? first_rate_above(seen, 2) : std::nullopt;
}

/// Updates of a bounded size overshoot and mostly return.
std::optional<Evidence> find_overshooting_rate(const Examination& seen) {
  return can_run_away(seen) ? std::nullopt : first_rate_above(seen, 10);
}

std::optional<Evidence> find_missing_warmup(const Examination& seen) {
  if (!seen.sharpness || seen.training.warmup > 0 || seen.training.steps < 10) return std::nullopt;
  if (!(seen.training.peak_lr > 0.3 * seen.sharpness->largest_rate)) return std::nullopt;
  return Evidence{"step 1", "learning rate without a warm-up, a stable one being",
                  seen.training.peak_lr, 0.3 * seen.sharpness->largest_rate};
}

std::optional<Evidence> find_unbalanced(const Examination& seen) {
  if (seen.training.update != UpdateSize::gradient) return std::nullopt;
  const Measurement* least = seen.measurements.smallest(Quantity::weight_gradient);
  const Measurement* most = seen.measurements.largest(Quantity::weight_gradient);
  if (least == nullptr || !(most->value > 30 * least->value)) return std::nullopt;
  return Evidence{least->spot.name(),
                  "gradient of its weights, the largest being " + most->spot.name(), least->value,
                  most->value};
}

std::optional<Evidence> find_smoothing(const Examination& seen) {
  if (!(seen.training.label_smoothing > 0.3)) return std::nullopt;
  return Evidence{"train.label_smoothing", "share of the target", seen.training.label_smoothing,
                  0.1};
}

std::optional<Evidence> find_divergence(const Examination& seen) {
  if (!seen.rehearsal || !diverged(*seen.rehearsal)) return std::nullopt;
  const RehearsedLoss loss = rehearsed_loss(*seen.rehearsal);
  const auto updates = static_cast<int64_t>(seen.rehearsal->losses.size());
  return Evidence{fmt::format("update {} of the rehearsal", updates),
                  "loss in nats per token, its lowest being", loss.last, loss.lowest};
}

Overrides for_divergence(const Examination& seen) {
  const double rate = seen.training.peak_lr;
  return {fmt::format("optimizer.lr={:.2g}", rate / 4), "model.residual.kind=admin",
          fmt::format("optimizer.lr={:.2g}", rate / 16)};
}

}  // namespace

std::vector<FindingRow> training_findings() {
  return {
      {"rate_above_stable",
       Severity::error,
       "the learning rate is above 38 over the preconditioned curvature: updates overshoot",
       "Cohen et al. 2022, arXiv:2207.14484; Gilmer et al. 2021, arXiv:2110.04369",
       find_unstable_rate,
       lower_rate,
       {"no_warmup"}},
      {"first_rate_overshoots",
       Severity::warning,
       "the first updates are more than ten times those that the curvature bears",
       "Cohen et al. 2022, arXiv:2207.14484; Gilmer et al. 2021, arXiv:2110.04369",
       find_overshooting_rate,
       lower_rate,
       {"no_warmup"}},
      {"no_warmup", Severity::warning,
       "the first update is a full one, though the curvature is largest at the start",
       "Gilmer et al. 2021, arXiv:2110.04369", find_missing_warmup,
       [](const Examination& seen) {
         return Overrides{
             fmt::format("schedule.warmup={}", std::max<int64_t>(10, seen.training.steps / 20))};
       }},
      {"unbalanced_gradients", Severity::warning,
       "one learning rate for gradients of very different size: some layers overshoot while others "
       "rest",
       "Liu et al. 2020, section 3.2, arXiv:2004.08249", find_unbalanced,
       [](const Examination&) { return Overrides{"optimizer.kind=radam"}; }},
      {"smoothing_too_strong", Severity::warning, "most of the target is spread over wrong words",
       "Szegedy et al. 2016, arXiv:1512.00567", find_smoothing,
       [](const Examination&) { return Overrides{"train.label_smoothing=0.1"}; }},
      {"diverges_in_rehearsal", Severity::error,
       "the loss rose and did not return while the first updates were rehearsed",
       "Gilmer et al. 2021, arXiv:2110.04369", find_divergence, for_divergence},
  };
}

}  // namespace ballast
