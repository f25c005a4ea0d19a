#include "ballast/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "ballast/data/packed_batch.h"
#include "ballast/decode/translate.h"
#include "ballast/metrics/bleu.h"
#include "ballast/model/evaluation_mode.h"
#include "ballast/train/greedy.h"

namespace ballast {

double Evaluation::perplexity() const { return std::exp(nll); }

CrossEntropyOptions loss_options(const TrainOptions& options) {
  return {.smoothing = options.label_smoothing,
          .convention = options.smoothing,
          .z_loss = options.z_loss};
}

Evaluation evaluate(Transformer& model, const EncodedCorpus& corpus, const BatchLimits& limits,
                    const CrossEntropyOptions& loss) {
  const EvaluationMode evaluating(model);
  const torch::Device device = model.device();
  double loss_sum = 0, nll_sum = 0;
  int64_t tokens = 0, hits = 0;
  for (const auto& sequences : plan_in_order(corpus, limits)) {
    const Batch batch = make_batch(corpus, sequences).to(device);
    const CrossEntropyInputs inputs = model.predictions(batch);
    const CrossEntropy sums = cross_entropy(inputs, loss);
    if (batch.predicted.defined()) hits += greedy_hits(inputs).sum().item<int64_t>();
    loss_sum += sums.loss.item<double>();
    nll_sum += sums.nll.item<double>();
    tokens += sums.tokens;
  }
  const auto count = static_cast<double>(std::max<int64_t>(tokens, 1));
  Evaluation found{loss_sum / count, nll_sum / count, tokens};
  if (corpus.masking) found.accuracy = static_cast<double>(hits) / count;
  return found;
}

double validation_bleu(Transformer& model, const Tokenizer& tokenizer, const TranslationJob& job) {
  const int64_t count = std::min(job.sentences, job.corpus.count());
  std::vector<std::vector<int64_t>> sources;
  std::vector<std::string> references;
  for (int64_t i = 0; i < count; ++i) {
    const auto source = job.corpus.source[i], target = job.corpus.target[i];
    sources.emplace_back(source.begin(), source.end());
    references.push_back(tokenizer.decode(std::vector<int64_t>(target.begin(), target.end())));
  }
  const std::vector<std::string> outputs =
      best_texts(translate(model, sources, job.decode, {}, special_ids(tokenizer)), tokenizer);
  return corpus_bleu(outputs, std::vector<std::vector<std::string>>{references}, {}).score;
}

}  // namespace ballast
