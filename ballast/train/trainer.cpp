#include "ballast/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/optim/clip.h"
#include "ballast/store/json_fields.h"
#include "ballast/train/checkpoint.h"
#include "ballast/train/evaluate.h"

namespace ballast {
namespace {

/// A number that another text would hardly give.
uint64_t fingerprint(const EncodedCorpus& corpus) {
  uint64_t key = mix(static_cast<uint64_t>(corpus.source.count()),
                     static_cast<uint64_t>(corpus.target.count()));
  for (const TokenLists* side : {&corpus.source, &corpus.target}) {
    for (const int32_t id : side->ids()) key = mix(key, static_cast<uint64_t>(id));
    for (const int64_t end : side->ends()) key = mix(key, static_cast<uint64_t>(end));
  }
  return key;
}

/// The step a run goes on from; 0 for a new one.
int64_t start_step(const RunDirectory& directory) {
  return directory.last_complete_step().value_or(0);
}

}  // namespace

Trainer::Trainer(TrainingParts parts, RunDirectory& directory, std::ostream& out, Terminal terminal)
    : parts_(std::move(parts)),
      directory_(directory),
      optimizer_(parts_.optimizer, optimized(parts_.plan)),
      schedule_(make_schedule(parts_.schedule, peak_lr(parts_.optimizer), parts_.options.steps)),
      stream_(parts_.train, {.tokens = parts_.options.batch_tokens}, parts_.seed),
      guard_(parts_.options.stability),
      log_(directory.file("log.jsonl"), start_step(directory)),
      events_(directory.path(), start_step(directory)),
      progress_(out, terminal, parts_.options.steps),
      begun_(std::chrono::steady_clock::now()),
      fingerprint_(fingerprint(*parts_.train)) {
  parts_.model->context().seed = parts_.seed;
  parts_.model->context().precision = parts_.options.precision;
  parts_.model->set_activations(parts_.options.recompute ? Activations::recomputed
                                                         : Activations::kept);
  if (const int64_t step = start_step(directory); step > 0) resume(step);
  name_best();
}

TrainingSummary Trainer::run(const std::stop_token& stop) {
  begun_ = std::chrono::steady_clock::now();
  parts_.model->train();
  if (owes_validation_ && !stop.stop_requested()) validate();
  StepReport last;
  while (step() < parts_.options.steps && !stop.stop_requested() && !has_given_up()) {
    last = train_step();
    if (last.applied) after_step(last, stop);
  }
  if (step() > 0 && directory_.last_complete_step() != step()) save();
  const bool cut_short = step() < parts_.options.steps || owes_validation_;
  const Ending ending = stop.stop_requested() && cut_short ? Ending::stopped
                        : has_given_up()                   ? Ending::no_improvement
                                                           : Ending::complete;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun_;
  return {ending, step(), tokens_, taken.count(), last.loss};
}

Trainer::StepReport Trainer::train_step() {
  StepReport report = accumulated();
  const Verdict verdict = guard_.observe(step() + 1, report.loss, report.gradient_norm);
  if (verdict.kind == Verdict::Kind::diverged) diverged(report, verdict.reason);
  const auto clip = clip_scale(report.gradient_norm, parts_.options.clip_norm);
  report.applied = verdict.kind == Verdict::Kind::ok && clip.has_value();
  report.lr = schedule_(step() + 1);
  if (report.applied && report.tokens > 0) {
    optimizer_.step(report.lr, *clip / static_cast<double>(report.tokens));
  } else if (!report.applied) {
    progress_.note(fmt::format("step {} not applied: {}; first non-finite gradient in {}",
                               step() + 1, verdict.reason,
                               first_non_finite_gradient(optimizer_.parameters())));
  }
  optimizer_.clear_gradients();
  return report;
}

/// Gradients of the summed loss over all batches of one update; what is reported is per token.
Trainer::StepReport Trainer::accumulated() {
  StepReport report;
  Transformer& model = *parts_.model;
  const torch::Device device = model.device();
  model.context().step = step();
  for (int64_t micro = 0; micro < parts_.options.accumulate; ++micro) {
    const Batch batch = stream_.next().to(device);
    model.context().micro_batch = micro;
    const torch::Tensor hidden = model.forward(batch.source, batch.target_input);
    const CrossEntropy sums = cross_entropy(model.output->against(hidden, batch.target_output),
                                            loss_options(parts_.options));
    sums.loss.backward();
    report.loss += sums.loss.item<double>();
    report.nll += sums.nll.item<double>();
    report.tokens += sums.tokens;
  }
  const auto count = static_cast<double>(std::max<int64_t>(report.tokens, 1));
  report.loss /= count;
  report.nll /= count;
  report.gradient_norm = gradient_norm(optimizer_.parameters()) / count;
  return report;
}

void Trainer::after_step(const StepReport& report, const std::stop_token& stop) {
  tokens_ += report.tokens;
  if (is_due(parts_.options.log_every) || step() == 1) record(report);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun_;
  progress_.show({step(), tokens_, taken.count(), report.loss, report.lr});
  owes_validation_ = validates_now();
  if (is_due(parts_.options.checkpoint_every) || owes_validation_ || is_last()) save();
  if (owes_validation_ && !stop.stop_requested()) validate();
}

bool Trainer::validates_now() const {
  const int64_t every = parts_.options.validate_every;
  return parts_.valid && every > 0 && (is_due(every) || is_last());
}

void Trainer::record(const StepReport& report) {
  log_.append(step(), {{"loss", report.loss},
                       {"nll", report.nll},
                       {"lr", report.lr},
                       {"gradient_norm", report.gradient_norm},
                       {"tokens", report.tokens},
                       {"epoch", stream_.position().epoch}});
  events_.scalar(step(), "train/loss", report.loss);
  events_.scalar(step(), "train/nll", report.nll);
  events_.scalar(step(), "train/learning_rate", report.lr);
  events_.scalar(step(), "train/gradient_norm", report.gradient_norm);
}

void Trainer::validate() {
  Transformer& model = *parts_.model;
  const Evaluation found = evaluate(model, *parts_.valid, {.tokens = parts_.options.batch_tokens},
                                    loss_options(parts_.options));
  nlohmann::ordered_json values{{"validation_loss", found.loss}, {"validation_nll", found.nll}};
  std::string text = fmt::format("step {}: validation loss {:.4f}, perplexity {:.2f}", step(),
                                 found.loss, found.perplexity());
  if (parts_.options.bleu_sentences > 0 && parts_.valid->is_parallel()) {
    const double bleu =
        validation_bleu(model, *parts_.tokenizer,
                        {*parts_.valid, parts_.options.bleu_sentences, parts_.decode.greedy()});
    values["validation_bleu"] = bleu;
    text += fmt::format(", BLEU {:.2f}", bleu);
  }
  // The record says that the validation is done, so it comes after the best step has its name.
  consider(found.loss);
  log_.append(step(), values);
  log_.sync();
  owes_validation_ = false;
  for (const auto& [name, value] : values.items()) events_.scalar(step(), name, value);
  progress_.note(text);
  directory_.prune(parts_.options.keep);
}

/// The saved step is the best when its loss is the lowest so far.
void Trainer::consider(double validation_loss) {
  const bool lowest = !best_ || validation_loss < best_->value;
  if (lowest && std::isfinite(validation_loss))
    best_ = {step(), "validation_loss", validation_loss};
  name_best();
}

void Trainer::name_best() {
  if (best_ == directory_.best()) return;
  const std::vector<int64_t> saved = directory_.steps();
  if (best_ && std::ranges::binary_search(saved, best_->step)) {
    directory_.set_best(*best_);
  } else {
    directory_.remove_text("best.json");  // of a step that was deleted to go on from one before
  }
}

void Trainer::save() {
  if (directory_.last_complete_step() == step()) return;
  log_.sync();
  nlohmann::json state{{"step", step()},
                       {"epoch", stream_.position().epoch},
                       {"batch", stream_.position().batch},
                       {"corpus", fingerprint_},
                       {"guard", json_of(guard_.state())}};
  if (best_) state["best"] = json_of(*best_);
  directory_.save_step(step(), named_state(*parts_.model), optimizer_.state(), state);
  directory_.prune(parts_.options.keep);
}

void Trainer::resume(int64_t step) {
  const SavedStep saved = directory_.load_step(step);
  load_named_state(*parts_.model, saved.model);
  optimizer_.load_state(with_present_names(saved.optimizer));
  try {
    if (saved.state.at("corpus") != fingerprint_) {
      throw DataError(fmt::format(
          "{}: the training text is not the one that step {} was trained on; go on with that text, "
          "or choose another --run directory",
          directory_.path().string(), step));
    }
    stream_.seek({saved.state.at("epoch"), saved.state.at("batch")});
    guard_.load_state(from_json_fields<StabilityState>(saved.state.at("guard")));
    if (saved.state.contains("best")) best_ = from_json_fields<BestStep>(saved.state["best"]);
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("{}: state.json of step {} lacks what a resume needs ({})",
                                 directory_.path().string(), step, error.what()));
  }
  const auto validated = log_.resumed().find("validation_loss");
  if (validated != log_.resumed().end() && validated->is_number()) consider(*validated);
  owes_validation_ = validates_now() && validated == log_.resumed().end();
  progress_.note(fmt::format("resuming after step {}", step));
}

void Trainer::diverged(const StepReport& report, const std::string& reason) const {
  const std::string tensor = first_non_finite_gradient(optimizer_.parameters());
  const auto saved = directory_.last_complete_step();
  throw DivergenceError(
      fmt::format("diverged at {}{}; {}. Try a smaller lr, a longer warmup, or model.residual = "
                  "\"admin\"",
                  reason,
                  tensor.empty() ? "" : fmt::format("; first non-finite gradient in {}", tensor),
                  saved ? fmt::format("step {} is saved", *saved) : "no step was saved"),
      {step() + 1, report.loss, report.gradient_norm, tensor});
}

bool Trainer::has_given_up() const {
  const int64_t patience = parts_.options.patience, every = parts_.options.validate_every;
  // Divided, for the product of two large numbers would not fit.
  return patience > 0 && every > 0 && best_ && (step() - best_->step) / every >= patience;
}

}  // namespace ballast
