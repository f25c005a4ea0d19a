#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/data/batch_plan.h"
#include "ballast/data/corpus.h"
#include "ballast/decode/options.h"
#include "ballast/model/transformer.h"
#include "ballast/train/options.h"

namespace ballast {

/// Means over the target tokens of a corpus, in nats.
struct Evaluation {
  double loss = 0;  ///< with label smoothing
  double nll = 0;   ///< without
  int64_t tokens = 0;
  std::optional<double> accuracy = {};  ///< share of hidden tokens that are found, of a masked_lm

  double perplexity() const;
};

/// The loss that a model is trained and judged by.
CrossEntropyOptions loss_options(const TrainOptions& options);

/// One pass over a corpus in evaluation mode, without gradients.
Evaluation evaluate(Transformer& model, const EncodedCorpus& corpus, const BatchLimits& limits,
                    const CrossEntropyOptions& loss);

/// Which sentences of a corpus to translate, and how.
struct TranslationJob {
  const EncodedCorpus& corpus;
  int64_t sentences = 0;  ///< the first so many
  DecodeOptions decode;
};

/// BLEU (13a) of translations against the corpus' targets, both as the target side's tokenizer
/// spells them.
double validation_bleu(Transformer& model, const Tokenizer& tokenizer, const TranslationJob& job);

}  // namespace ballast
