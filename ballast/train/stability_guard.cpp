#include "ballast/train/stability_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

/// Weight of observation `count` (from 1) in a moving average: a plain mean until the window fills.
double weight(int64_t count, int64_t window) {
  return 1.0 / static_cast<double>(std::min(count, window));
}

}  // namespace

double StabilityGuard::alarm_rise() const {
  return std::max(options_.deviations * std::sqrt(state_.variance), options_.least_rise);
}

Verdict StabilityGuard::observe(int64_t step, double loss, double gradient_norm) {
  if (!std::isfinite(loss) || !std::isfinite(gradient_norm)) {
    const bool last = ++state_.non_finite >= options_.non_finite_limit;
    return {last ? Verdict::Kind::diverged : Verdict::Kind::skip,
            fmt::format("step {}: loss {:.6g} and gradient norm {:.6g}; {} steps in a row were not "
                        "finite",
                        step, loss, gradient_norm, state_.non_finite)};
  }
  state_.non_finite = 0;
  learn(loss);
  if (state_.alarms < options_.patience) return {};
  return {Verdict::Kind::diverged,
          fmt::format(
              "step {}: the loss, {:.6g} on average, has for {} steps been more than {:.3g} "
              "above its usual {:.6g} (now {:.6g}, gradient norm {:.6g})",
              step, state_.fast, state_.alarms, alarm_rise(), state_.slow, loss, gradient_norm)};
}

void StabilityGuard::learn(double loss) {
  const bool warm = is_warm();
  const double level = state_.slow + alarm_rise();
  // However absurd one loss is, it lifts the fast average by two alarm rises at most, so that it is
  // forgotten within the fast window.
  const double loudest = state_.slow + 2 * static_cast<double>(options_.fast_window) * alarm_rise();
  const double heard = warm ? std::min(loss, loudest) : loss;
  const double noise = state_.observations == 0 ? 0 : heard - state_.fast;

  ++state_.observations;
  state_.fast += weight(state_.observations, options_.fast_window) * (heard - state_.fast);
  const bool alarmed = warm && state_.fast > level;
  state_.alarms = alarmed ? state_.alarms + 1 : 0;
  if (alarmed || (warm && heard > level)) return;
  const double share = weight(state_.observations, options_.slow_window);
  state_.slow += share * (heard - state_.slow);
  state_.variance += share * (noise * noise - state_.variance);
}

}  // namespace ballast
