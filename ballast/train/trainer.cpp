#include "ballast/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/base/error.h"
#include "ballast/optim/clip.h"
#include "ballast/train/step.h"

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
      instruments_(parts_),
      directory_(directory),
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
  StepReport report = accumulate_gradients(parts_, state_, step());
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
  const bool is_first_skip = !report.applied && state_.guard.state().non_finite == 1;
  if (is_first_skip && parts_.options.instruments_every > 0) {
    journal_.gauges(step() + 1, instruments_.measure());
  }
  return report;
}

void Trainer::after_step(const StepReport& report, const std::stop_token& stop) {
  tokens_ += report.tokens;
  if (is_due(parts_.options.log_every) || step() == 1) journal_.step(step(), report);
  if (instruments_.is_due(step())) journal_.gauges(step(), instruments_.measure());
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

void Trainer::diverged(const StepReport& report, const std::string& reason) {
  const std::string tensor = first_non_finite_gradient(state_.optimizer.parameters());
  journal_.sync();
  History history = history_in(directory_.file("log.jsonl"));
  history.push_back({step() + 1, instruments_.measure()});
  const std::string found =
      post_mortem(history, training_facts(parts_.optimizer, parts_.schedule, parts_.options));
  const int64_t saved = checkpoints_.last();
  const std::string what =
      fmt::format("diverged at {}{}; {}", reason,
                  tensor.empty() ? "" : fmt::format("; first non-finite gradient in {}", tensor),
                  saved > 0 ? fmt::format("step {} is saved", saved) : "no step was saved");
  directory_.write_text("post-mortem.txt", what + "\n" + found);
  throw DivergenceError(what + "\n" + found,
                        {step() + 1, report.loss, report.gradient_norm, tensor});
}

}  // namespace ballast
