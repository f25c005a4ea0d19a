#include "ballast/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/base/error.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/optim/clip.h"
#include "ballast/train/evaluate.h"

namespace ballast {

Trainer::Trainer(TrainingParts parts, RunDirectory& directory, std::ostream& out, Terminal terminal)
    : parts_(std::move(parts)),
      schedule_(make_schedule(parts_.schedule, peak_lr(parts_.optimizer), parts_.options.steps)),
      state_{{parts_.optimizer, optimized(parts_.plan)},
             {parts_.train, {.tokens = parts_.options.batch_tokens}, parts_.seed},
             StabilityGuard(parts_.options.stability)},
      checkpoints_(parts_, directory),
      journal_(directory, checkpoints_.last(), out, terminal, parts_.options.steps),
      validation_(parts_, directory, journal_),
      begun_(std::chrono::steady_clock::now()) {
  parts_.model->context().seed = parts_.seed;
  parts_.model->context().precision = parts_.options.precision;
  parts_.model->set_activations(parts_.options.recompute ? Activations::recomputed
                                                         : Activations::kept);
  const int64_t saved = checkpoints_.last();
  validation_.resume(saved, saved > 0 ? checkpoints_.load(saved, state_) : std::nullopt);
  if (saved > 0) journal_.note(fmt::format("resuming after step {}", saved));
}

TrainingSummary Trainer::run(const std::stop_token& stop) {
  begun_ = std::chrono::steady_clock::now();
  parts_.model->train();
  if (validation_.is_owed() && !stop.stop_requested()) validation_.run(step());
  StepReport last;
  while (step() < parts_.options.steps && !stop.stop_requested() &&
         !validation_.has_given_up(step())) {
    last = train_step();
    if (last.applied) after_step(last, stop);
  }
  if (step() > 0) save();
  const bool cut_short = step() < parts_.options.steps || validation_.is_owed();
  const Ending ending = stop.stop_requested() && cut_short ? Ending::stopped
                        : validation_.has_given_up(step()) ? Ending::no_improvement
                                                           : Ending::complete;
  return {ending, step(), tokens_, seconds(), last.loss};
}

StepReport Trainer::train_step() {
  StepReport report = accumulated();
  const Verdict verdict = state_.guard.observe(step() + 1, report.loss, report.gradient_norm);
  if (verdict.kind == Verdict::Kind::diverged) diverged(report, verdict.reason);
  const auto clip = clip_scale(report.gradient_norm, parts_.options.clip_norm);
  report.applied = verdict.kind == Verdict::Kind::ok && clip.has_value();
  report.lr = schedule_(step() + 1);
  if (report.applied && report.tokens > 0) {
    state_.optimizer.step(report.lr, *clip / static_cast<double>(report.tokens));
  } else if (!report.applied) {
    journal_.note(fmt::format("step {} not applied: {}; first non-finite gradient in {}",
                              step() + 1, verdict.reason,
                              first_non_finite_gradient(state_.optimizer.parameters())));
  }
  state_.optimizer.clear_gradients();
  return report;
}

/// Gradients of the summed loss over all batches of one update; what is reported is per token.
StepReport Trainer::accumulated() {
  StepReport report;
  Transformer& model = *parts_.model;
  const torch::Device device = model.device();
  model.context().step = step();
  for (int64_t micro = 0; micro < parts_.options.accumulate; ++micro) {
    const Batch batch = state_.stream.next().to(device);
    model.context().micro_batch = micro;
    const CrossEntropy sums = cross_entropy(model.predictions(batch), loss_options(parts_.options));
    sums.objective.backward();
    report.loss += sums.loss.item<double>();
    report.nll += sums.nll.item<double>();
    report.tokens += sums.tokens;
  }
  const auto count = static_cast<double>(std::max<int64_t>(report.tokens, 1));
  report.loss /= count;
  report.nll /= count;
  report.gradient_norm = gradient_norm(state_.optimizer.parameters()) / count;
  report.epoch = state_.stream.position().epoch;
  return report;
}

void Trainer::after_step(const StepReport& report, const std::stop_token& stop) {
  tokens_ += report.tokens;
  if (is_due(parts_.options.log_every) || step() == 1) journal_.step(step(), report);
  journal_.show({step(), tokens_, seconds(), report.loss, report.lr});
  validation_.reach(step());
  if (is_due(parts_.options.checkpoint_every) || validation_.is_owed() || is_last()) save();
  if (validation_.is_owed() && !stop.stop_requested()) validation_.run(step());
}

void Trainer::save() {
  if (checkpoints_.last() == step()) return;
  journal_.sync();
  checkpoints_.save(state_, validation_.best());
}

double Trainer::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

void Trainer::diverged(const StepReport& report, const std::string& reason) const {
  const std::string tensor = first_non_finite_gradient(state_.optimizer.parameters());
  const int64_t saved = checkpoints_.last();
  throw DivergenceError(
      fmt::format("diverged at {}{}; {}. Try a smaller lr, a longer warmup, or model.residual = "
                  "\"admin\"",
                  reason,
                  tensor.empty() ? "" : fmt::format("; first non-finite gradient in {}", tensor),
                  saved > 0 ? fmt::format("step {} is saved", saved) : "no step was saved"),
      {step() + 1, report.loss, report.gradient_norm, tensor});
}

}  // namespace ballast
