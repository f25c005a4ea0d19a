#pragma once

#include <cstdint>
#include <memory>

#include "ballast/data/corpus.h"
#include "ballast/data/tokenizer.h"
#include "ballast/decode/options.h"
#include "ballast/metrics/text_size.h"
#include "ballast/model/transformer.h"
#include "ballast/optim/rules.h"
#include "ballast/optim/schedules.h"
#include "ballast/train/options.h"
#include "ballast/values/plan.h"

namespace ballast {

/// What a training is made of. The model has its values; those of a saved step replace them.
struct TrainingParts {
  std::shared_ptr<Transformer> model;
  Plan plan;
  OptimizerChoice optimizer;
  ScheduleChoice schedule;
  TrainOptions options;
  DecodeOptions decode;
  std::shared_ptr<const EncodedCorpus> train, valid;  ///< valid may be null
  std::shared_ptr<const Tokenizer> tokenizer;         ///< of the target side
  TextSize valid_text = {};                           ///< of a language model's; else nothing
  uint64_t seed = 1;
};

}  // namespace ballast
