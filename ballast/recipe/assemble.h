#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ballast/data/corpus.h"
#include "ballast/data/tokenizer.h"
#include "ballast/prepare/calibrate.h"
#include "ballast/prepare/initialize.h"
#include "ballast/recipe/recipe.h"
#include "ballast/train/trainer.h"

namespace ballast {

/// A recipe's text as ids.
struct PreparedData {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const EncodedCorpus> train, valid;  ///< valid is null when the recipe has none
};

/// A model with its initial values, and the plan that gave them.
struct PreparedModel {
  std::shared_ptr<Transformer> model;
  std::vector<PlannedParameter> plan;
};

/// Learns the recipe's vocabulary from its training text.
Tokenizer learn_tokenizer(const Recipe& recipe);

/// Text files, and where their encoded form is kept (empty: nowhere).
struct CorpusFiles {
  std::vector<std::string> text;
  std::filesystem::path cache;
};

/// Reads the files and encodes them as the model kind wants, or takes the cache when it was made
/// from the same text, tokenizer and options; otherwise writes it anew.
EncodedCorpus encode_files(const Recipe& recipe, const CorpusFiles& files,
                           const Tokenizer& tokenizer);

/// Builds, parameterizes and initializes on the CPU. `vocabulary_size` holds for both sides.
PreparedModel build_model(const Recipe& recipe, int64_t vocabulary_size);

/// Calibrates on the first training batch of the first epoch.
Profile calibrate_on(const Recipe& recipe, Transformer& model,
                     const std::shared_ptr<const EncodedCorpus>& corpus);

/// What a `Trainer` of this recipe needs.
TrainingParts training_parts(const Recipe& recipe, const PreparedModel& model,
                             const PreparedData& data);

}  // namespace ballast
