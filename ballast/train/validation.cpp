#include "ballast/train/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ballast/train/evaluate.h"
#include "ballast/train/text_evaluation.h"

namespace ballast {

void Validation::resume(int64_t step, const std::optional<BestStep>& best) {
  best_ = best;
  const nlohmann::json& told = journal_.resumed();
  const auto loss = told.find("validation_loss");
  if (loss != told.end() && loss->is_number()) consider(step, *loss);
  is_owed_ = step > 0 && is_due(step) && loss == told.end();
  name_best();
}

bool Validation::is_due(int64_t step) const {
  const int64_t every = parts_.options.validate_every;
  return parts_.valid && every > 0 && (step % every == 0 || step == parts_.options.steps);
}

void Validation::reach(int64_t step) { is_owed_ = is_due(step); }

void Validation::run(int64_t step) {
  Transformer& model = *parts_.model;
  const Evaluation found = evaluate(model, *parts_.valid, {.tokens = parts_.options.batch_tokens},
                                    loss_options(parts_.options));
  nlohmann::ordered_json values{{"validation_loss", found.loss}, {"validation_nll", found.nll}};
  std::string text = fmt::format("step {}: validation loss {:.4f}, perplexity {:.2f}", step,
                                 found.loss, found.perplexity());
  if (parts_.valid_text.bytes > 0) {
    const double bits =
        bits_per_byte(found.nll * static_cast<double>(found.tokens), parts_.valid_text.bytes);
    values["validation_perplexity"] = found.perplexity();
    values["validation_bits_per_byte"] = bits;
    text += fmt::format(", {:.4f} bits a byte", bits);
  }
  if (found.accuracy) {
    values["validation_accuracy"] = *found.accuracy;
    text += fmt::format(", accuracy {:.4f}", *found.accuracy);
  }
  if (parts_.options.bleu_sentences > 0 && parts_.valid->is_parallel()) {
    const double bleu =
        validation_bleu(model, *parts_.tokenizer,
                        {*parts_.valid, parts_.options.bleu_sentences, parts_.decode.greedy()});
    values["validation_bleu"] = bleu;
    text += fmt::format(", BLEU {:.2f}", bleu);
  }
  // The record says that the validation is done, so it comes after the best step has its name.
  consider(step, found.loss);
  name_best();
  journal_.validation(step, values, text);
  is_owed_ = false;
  directory_.prune(parts_.options.keep);
}

void Validation::consider(int64_t step, double loss) {
  const bool lowest = !best_ || loss < best_->value;
  if (lowest && std::isfinite(loss)) best_ = {step, "validation_loss", loss};
}

void Validation::name_best() {
  if (best_ == directory_.best()) return;
  const std::vector<int64_t> saved = directory_.steps();
  if (best_ && std::ranges::binary_search(saved, best_->step)) {
    directory_.set_best(*best_);
  } else {
    directory_.remove_text("best.json");  // of a step that was deleted to go on from one before
  }
}

bool Validation::has_given_up(int64_t step) const {
  const int64_t patience = parts_.options.patience, every = parts_.options.validate_every;
  // Divided, for the product of two large numbers would not fit.
  return patience > 0 && every > 0 && best_ && (step - best_->step) / every >= patience;
}

}  // namespace ballast
