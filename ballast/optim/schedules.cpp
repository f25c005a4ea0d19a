#include "ballast/optim/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "ballast/base/error.h"

namespace ballast {
namespace {

/// A run of so many steps whose learning rate has a peak.
struct Run {
  double lr;
  int64_t total_steps;
};

double warmed_up(int64_t step, int64_t warmup) {
  return step < warmup ? static_cast<double>(step) / static_cast<double>(warmup) : 1.0;
}

/// How far `step` lies between two others, from 0 to 1; 0 when there is nothing between them.
double share_passed(int64_t step, double begin, double end) {
  if (begin >= end) return 0;
  return std::clamp((static_cast<double>(step) - begin) / (end - begin), 0.0, 1.0);
}

double between(double final_ratio, double share_left) {
  return final_ratio + (1 - final_ratio) * share_left;
}

Schedule schedule_of(const InverseSqrtOptions& options, const Run& run) {
  const double warmup = static_cast<double>(std::max<int64_t>(options.warmup, 1));
  return [=, initial = options.initial_lr, lr = run.lr](int64_t step) {
    const double t = static_cast<double>(step);
    return t < warmup ? initial + t * (lr - initial) / warmup : lr * std::sqrt(warmup / t);
  };
}

/// Where a decay ends. One that ends at 0 does so a step after the run, since an update with
/// learning rate 0 would be none.
double decay_end(const Run& run, double final_ratio) {
  return static_cast<double>(run.total_steps) + (final_ratio > 0 ? 0 : 1);
}

/// A decay from `begin` on, to a share of the peak.
struct Decay {
  double begin, final_ratio;
};

/// Warmup, then `fall(x)` times the peak, x running from 0 to 1 between `begin` and the end.
template <class Fall>
Schedule warmup_then(int64_t warmup, const Decay& decay, const Run& run, Fall fall) {
  const double end = decay_end(run, decay.final_ratio);
  return [=, begin = decay.begin](int64_t step) {
    const int64_t t = std::min(step, run.total_steps);
    return run.lr * warmed_up(t, warmup) * fall(share_passed(t, begin, end));
  };
}

Schedule schedule_of(const CosineOptions& options, const Run& run) {
  const double r = options.final_ratio;
  return warmup_then(options.warmup, {static_cast<double>(options.warmup), r}, run, [r](double x) {
    return between(r, (1 + std::cos(std::numbers::pi * x)) / 2);
  });
}

Schedule schedule_of(const LinearDecayOptions& options, const Run& run) {
  const double r = options.final_ratio;
  return warmup_then(options.warmup, {static_cast<double>(options.warmup), r}, run,
                     [r](double x) { return between(r, 1 - x); });
}

double fallen(const WsdOptions& options, double x) {
  switch (options.shape) {
    case DecayShape::exponential:
      return std::pow(options.final_ratio, x);
    case DecayShape::linear:
      return between(options.final_ratio, 1 - x);
    case DecayShape::one_minus_sqrt:
      return between(options.final_ratio, 1 - std::sqrt(x));
  }
  return 1;
}

Schedule schedule_of(const WsdOptions& options, const Run& run) {
  const double stable = static_cast<double>(run.total_steps) * (1 - options.decay_share);
  const double begin = std::max(stable, static_cast<double>(options.warmup));
  return warmup_then(options.warmup, {begin, options.final_ratio}, run,
                     [options](double x) { return fallen(options, x); });
}

Schedule schedule_of(const ConstantOptions& options, const Run& run) {
  return
      [warmup = options.warmup, lr = run.lr](int64_t step) { return lr * warmed_up(step, warmup); };
}

}  // namespace

bool falls(const ScheduleChoice& choice) {
  return std::visit([](const auto& options) { return options.falls; }, choice);
}

std::vector<ScheduleProblem> schedule_problems(const ScheduleChoice& choice, int64_t total_steps) {
  std::vector<ScheduleProblem> found;
  const std::string_view kind = info_of(choice).name;
  const auto ends = [](const auto& options) {
    return requires { options.final_ratio; };
  };
  if (std::visit(ends, choice) && total_steps < 1) {
    found.push_back({"kind", fmt::format("schedule \"{}\" ends with the run, but the run has {} "
                                         "steps; set the number of steps or choose "
                                         "\"inverse_sqrt\" or \"constant\"",
                                         kind, total_steps)});
  }
  const auto* wsd = std::get_if<WsdOptions>(&choice);
  if (wsd && wsd->shape == DecayShape::exponential && wsd->final_ratio <= 0) {
    found.push_back({"final_ratio",
                     "schedule \"wsd\" with final_ratio 0 cannot decay exponentially; set "
                     "final_ratio above 0 or shape \"linear\" or \"one_minus_sqrt\""});
  }
  return found;
}

Schedule make_schedule(const ScheduleChoice& choice, double lr, int64_t total_steps) {
  const auto problems = schedule_problems(choice, total_steps);
  if (!problems.empty()) throw RecipeError(problems.front().text);
  const Run run{lr, total_steps};
  return std::visit([&run](const auto& options) { return schedule_of(options, run); }, choice);
}

}  // namespace ballast
