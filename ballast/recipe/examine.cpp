#include "ballast/recipe/examine.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>

#include "ballast/data/batch_stream.h"
#include "ballast/diagnose/signal.h"
#include "ballast/train/evaluate.h"
#include "ballast/train/instruments.h"
#include "ballast/train/rehearse.h"

namespace ballast {
namespace {

/// Of a batch that is looked at: `tokens`, or what the longest sequence has.
int64_t tokens_of_batch(const Recipe& recipe, const std::shared_ptr<const EncodedCorpus>& corpus,
                        int64_t tokens) {
  int64_t longest = 0;
  for (int64_t i = 0; i < corpus->count(); ++i) {
    longest = std::max(longest, corpus->target_tokens(i) + 1);
    if (corpus->is_parallel()) longest = std::max(longest, corpus->source.length(i));
  }
  return std::min(recipe.train.batch_tokens, std::max(tokens, longest));
}

/// The model is as before afterwards.
Rehearsal rehearsal_of(const Recipe& recipe, const PlannedModel& planned,
                       const std::shared_ptr<const EncodedCorpus>& corpus, int64_t batch_tokens,
                       int64_t warmup, int64_t updates) {
  const Untouched untouched(*planned.model);
  const std::vector<torch::Tensor> parameters = planned.model->parameters();
  std::vector<torch::Tensor> values;
  for (const torch::Tensor& each : parameters) values.push_back(each.detach().clone());
  TrainingParts parts{.model = planned.model,
                      .plan = planned.plan,
                      .optimizer = recipe.optimizer,
                      .schedule = recipe.schedule,
                      .options = recipe.train,
                      .train = corpus,
                      .seed = static_cast<uint64_t>(recipe.seed)};
  parts.options.batch_tokens = batch_tokens;
  parts.options.accumulate = 1;
  Rehearsal made = rehearse(parts, warmup, updates);
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < values.size(); ++i) parameters[i].detach().copy_(values[i]);
  return made;
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
  const int64_t tokens = tokens_of_batch(recipe, corpus, effort.tokens);
  const auto seed = static_cast<uint64_t>(recipe.seed);
  const Batch batch = BatchStream(corpus, {.tokens = tokens}, seed).next().to(model.device());
  const Subject subject{model, planned.plan, batch, loss_options(recipe.train)};
  Examination made{.model = model.options(),
                   .training = training_facts(recipe.optimizer, recipe.schedule, recipe.train)};
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
  if (effort.rehearsal > 0) {
    made.rehearsal =
        rehearsal_of(recipe, planned, corpus, tokens, made.training.warmup, effort.rehearsal);
  }
  return made;
}

}  // namespace ballast
