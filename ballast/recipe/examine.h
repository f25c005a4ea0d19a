#pragma once

#include <memory>

#include "ballast/diagnose/examination.h"
#include "ballast/recipe/assemble.h"
#include "ballast/recipe/recipe.h"

namespace ballast {

/// How closely a recipe is looked at.
struct ExaminationEffort {
  int64_t tokens = 1024;        ///< of the batch that is run, at most the recipe's
  int64_t sequences = 100'000;  ///< of the text, the first so many
  bool sharpness = true;        ///< 24 more passes forward and back
  int64_t rehearsal = 0;        ///< updates that are made, see `rehearse`
};

/// Measures a recipe's model, with its values and calibrated, on the first batch of its training
/// text. The model is as before afterwards.
Examination examine(const Recipe& recipe, const PlannedModel& planned,
                    const std::shared_ptr<const EncodedCorpus>& corpus,
                    const Tokenizers& tokenizers, const ExaminationEffort& effort = {});

}  // namespace ballast
