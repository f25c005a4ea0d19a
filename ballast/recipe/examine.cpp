#include "ballast/recipe/examine.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>

#include "ballast/data/batch_stream.h"
#include "ballast/diagnose/signal.h"
#include "ballast/optim/schedules.h"
#include "ballast/train/evaluate.h"

namespace ballast {
namespace {

TrainingFacts training_facts(const Recipe& recipe) {
  const Schedule schedule =
      make_schedule(recipe.schedule, peak_lr(recipe.optimizer), recipe.train.steps);
  TrainingFacts facts = schedule_facts(schedule, recipe.train.steps);
  facts.update = update_size(recipe.optimizer, {.role = Role::feed_forward_in});
  facts.label_smoothing = recipe.train.label_smoothing;
  facts.clip_norm = recipe.train.clip_norm;
  facts.bf16 = recipe.train.precision == Precision::bf16;
  return facts;
}

Batch first_batch(const Recipe& recipe, const std::shared_ptr<const EncodedCorpus>& corpus,
                  int64_t tokens) {
  int64_t longest = 0;
  for (int64_t i = 0; i < corpus->count(); ++i) {
    longest = std::max(longest, corpus->target_tokens(i) + 1);
    if (corpus->is_parallel()) longest = std::max(longest, corpus->source.length(i));
  }
  const int64_t limit = std::min(recipe.train.batch_tokens, std::max(tokens, longest));
  return BatchStream(corpus, {.tokens = limit}, static_cast<uint64_t>(recipe.seed)).next();
}

/// The first sequences as lists, nothing hidden.
EncodedCorpus listed(const EncodedCorpus& corpus, int64_t most) {
  if (!corpus.contexts) return corpus;
  EncodedCorpus plain = corpus, made{.dropped_empty = corpus.dropped_empty};
  plain.masking = {};
  for (int64_t i = 0; i < std::min(most, corpus.count()); ++i) {
    const Batch batch = make_batch(plain, std::array{i});
    const torch::Tensor ids =
        torch::cat({batch.target_input.tokens.narrow(0, 0, 1), batch.target_output})
            .to(torch::kInt32);
    made.target.add({ids.data_ptr<int32_t>(), static_cast<size_t>(ids.numel())});
  }
  return made;
}

}  // namespace

Examination examine(const Recipe& recipe, const PlannedModel& planned,
                    const std::shared_ptr<const EncodedCorpus>& corpus,
                    const Tokenizers& tokenizers, const ExaminationEffort& effort) {
  Transformer& model = *planned.model;
  const Batch batch = first_batch(recipe, corpus, effort.tokens).to(model.device());
  const Subject subject{model, planned.plan, batch, loss_options(recipe.train)};
  Examination made{.model = model.options(), .training = training_facts(recipe)};
  made.text = text_facts(listed(*corpus, effort.sequences),
                         {.unknown_source = tokenizers.source.unknown_id(),
                          .unknown_target = tokenizers.target.unknown_id(),
                          .vocabulary = tokenizers.target.size(),
                          .joint = tokenizers.joint(),
                          .sequences = effort.sequences});
  measure_weights(planned.plan, made.measurements);
  measure_signal(subject, made.measurements);
  if (effort.sharpness) {
    constexpr double momentum = 0.9;
    made.sharpness = preconditioned_sharpness(subject, made.training.update, momentum);
  }
  return made;
}

}  // namespace ballast
