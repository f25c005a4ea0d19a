#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "ballast/base/fields.h"

namespace ballast {

/// When a run counts as diverged. Windows count observations, one per step.
struct StabilityOptions {
  static constexpr auto fields() {
    return std::tuple{
        field("fast_window", &StabilityOptions::fast_window,
              "observations averaged into the present loss", at_least_one),
        field("slow_window", &StabilityOptions::slow_window,
              "observations averaged into the usual loss and its noise", at_least_one),
        field("deviations", &StabilityOptions::deviations,
              "rise of the present over the usual loss that alarms, in standard deviations of the "
              "noise",
              positive),
        field("least_rise", &StabilityOptions::least_rise,
              "smallest rise that alarms, in units of the loss", at_least_zero),
        field("patience", &StabilityOptions::patience,
              "alarms in a row before the run counts as diverged", at_least_one),
        field("warmup", &StabilityOptions::warmup, "first observations that only teach",
              at_least_zero),
        field("non_finite_limit", &StabilityOptions::non_finite_limit,
              "non-finite steps in a row before the run counts as diverged", at_least_one)};
  }
  bool operator==(const StabilityOptions&) const = default;

  int64_t fast_window = 10, slow_window = 1000;
  double deviations = 5, least_rise = 0.2;
  int64_t patience = 200, warmup = 200, non_finite_limit = 10;
};

/// All a guard remembers, as plain numbers, so that a resumed run judges as the whole one would.
struct StabilityState {
  static constexpr auto fields() {
    return std::tuple{field("observations", &StabilityState::observations, "finite losses seen"),
                      field("alarms", &StabilityState::alarms, "alarms in a row"),
                      field("non_finite", &StabilityState::non_finite, "non-finite steps in a row"),
                      field("fast", &StabilityState::fast, "present loss"),
                      field("slow", &StabilityState::slow, "usual loss"),
                      field("variance", &StabilityState::variance, "of the noise of the loss")};
  }
  bool operator==(const StabilityState&) const = default;

  int64_t observations = 0, alarms = 0, non_finite = 0;
  double fast = 0, slow = 0, variance = 0;
};

/// What is to be done with a step.
struct Verdict {
  enum class Kind {
    ok,
    skip,      ///< loss or gradient is not finite: do not apply this step
    diverged,  ///< stop; the step is not to be applied either
  };
  Kind kind = Kind::ok;
  std::string reason;  ///< empty when ok
};

/// Tells noise and passing spikes of the training loss from divergence.
///
/// A fast moving average of the loss is held against a slow one, as in Marian's
/// `throw-on-divergence`. The noise is measured about the fast average, so the trend of a falling
/// loss is no part of it, and losses above the alarm level teach the slow average nothing, so a
/// loss that jumps and stays does not become usual. A rise slower than the alarm level per
/// `slow_window` steps is not seen.
class StabilityGuard {
 public:
  explicit StabilityGuard(const StabilityOptions& options = {}) : options_(options) {}

  /// Judges one step by its loss (per token) and gradient norm, before the step is applied.
  Verdict observe(int64_t step, double loss, double gradient_norm);

  const StabilityState& state() const { return state_; }
  void load_state(const StabilityState& state) { state_ = state; }

 private:
  bool is_warm() const { return state_.observations >= options_.warmup; }
  double alarm_rise() const;
  void learn(double loss);

  StabilityOptions options_;
  StabilityState state_;
};

}  // namespace ballast
