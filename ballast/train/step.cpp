#include "ballast/train/step.h"

#include <algorithm>

#include "ballast/kernels/cross_entropy.h"
#include "ballast/optim/clip.h"
#include "ballast/train/evaluate.h"

namespace ballast {

StepReport accumulate_gradients(const TrainingParts& parts, TrainingState& state,
                                int64_t position) {
  StepReport report;
  Transformer& model = *parts.model;
  const torch::Device device = model.device();
  model.context().step = position;
  for (int64_t micro = 0; micro < parts.options.accumulate; ++micro) {
    const Batch batch = state.stream.next().to(device);
    model.context().micro_batch = micro;
    const CrossEntropy sums = cross_entropy(model.predictions(batch), loss_options(parts.options));
    sums.objective.backward();
    report.loss += sums.loss.item<double>();
    report.nll += sums.nll.item<double>();
    report.tokens += sums.tokens;
  }
  const auto count = static_cast<double>(std::max<int64_t>(report.tokens, 1));
  report.loss /= count;
  report.nll /= count;
  report.gradient_norm = gradient_norm(state.optimizer.parameters()) / count;
  report.epoch = state.stream.position().epoch;
  return report;
}

}  // namespace ballast
