#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ballast/data/corpus.h"
#include "ballast/diagnose/coordinates.h"
#include "ballast/recipe/recipe.h"

namespace ballast {

/// The recipe with a model of another width, d_ff and heads in proportion. RecipeError where no
/// whole number of heads is left, or one that does not divide the width.
Recipe with_width(Recipe recipe, int64_t width);

/// With a decoder of so many blocks, the encoder in proportion, at least one.
Recipe with_depth(Recipe recipe, int64_t depth);

/// Which models a coordinate check compares.
struct CoordinateCheck {
  std::vector<int64_t> widths = {64, 128, 256};
  std::vector<int64_t> depths = {};  ///< of the recipe's own width
  int64_t steps = 4;                 ///< updates of each
};

/// What one went through: the models, all alike but for their scale, and the slopes over it.
struct CoordinateReport {
  std::vector<double> scales;
  std::vector<Coordinates> models;
  std::vector<CoordinateSlope> slopes;
};

struct CoordinateReports {
  CoordinateReport width, depth;  ///< without a model where the check has none
};

/// Every model is made as the recipe says, with its seed, and makes its updates at the peak of its
/// learning rate, on batches of the training text in the order of the training, one for each; the
/// first of them is also the one that is measured.
CoordinateReports coordinate_check(const Recipe& recipe, const VocabularySizes& sizes,
                                   const std::shared_ptr<const EncodedCorpus>& corpus,
                                   const CoordinateCheck& check, torch::Device device);

}  // namespace ballast
