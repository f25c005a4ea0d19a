#include "ballast/train/rehearse.h"

#include <algorithm>
#include <bit>

#include "ballast/optim/clip.h"
#include "ballast/train/instruments.h"
#include "ballast/train/step.h"

namespace ballast {

int64_t rehearsed_step(int64_t update, int64_t updates, int64_t warmup) {
  const int64_t peak = warmup + 1, climb = std::min(peak, std::max<int64_t>(updates / 2, 1));
  return update <= climb ? (update * peak + climb - 1) / climb : peak + update - climb;
}

Rehearsal rehearse(const TrainingParts& parts, int64_t warmup, int64_t updates) {
  const Schedule schedule =
      make_schedule(parts.schedule, peak_lr(parts.optimizer), parts.options.steps);
  TrainingState state{{parts.optimizer, optimized(parts.plan)},
                      {parts.train, {.tokens = parts.options.batch_tokens}, parts.seed},
                      StabilityGuard(parts.options.stability)};
  Context& context = parts.model->context();
  const PrecisionScope precision(context, parts.options.precision);
  context.seed = parts.seed;
  parts.model->train();
  Rehearsal made{.clip_norm = parts.options.clip_norm};
  Instruments instruments(parts);
  made.history.push_back({0, instruments.measure()});
  for (int64_t update = 1; update <= updates; ++update) {
    const int64_t step = rehearsed_step(update, updates, warmup);
    const StepReport report = accumulate_gradients(parts, state, step - 1);
    made.losses.push_back(report.nll);
    made.gradients.push_back(report.gradient_norm);
    const auto clip = clip_scale(report.gradient_norm, parts.options.clip_norm);
    if (!clip) {
      made.losses.back() = NAN;
      break;
    }
    if (report.tokens > 0) {
      state.optimizer.step(schedule(step), *clip / static_cast<double>(report.tokens));
    }
    state.optimizer.clear_gradients();
    if (std::has_single_bit(static_cast<uint64_t>(update)) || update == updates) {
      made.history.push_back({update, instruments.measure()});
    }
  }
  return made;
}

}  // namespace ballast
