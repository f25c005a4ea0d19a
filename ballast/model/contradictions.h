#pragma once

#include <string>
#include <vector>

#include "ballast/model/options.h"

namespace ballast {

/// Options that contradict each other.
struct Contradiction {
  std::string option;  ///< dotted name in the recipe of the one to look at first
  std::string text;
};

/// Every contradiction within the options of a model, empty for options that `Transformer` takes
/// but for the vocabularies: widths that do not divide, forms and norms that cannot stand where
/// they would, rules that fit nothing.
std::vector<Contradiction> contradictions(const ModelOptions& options);

}  // namespace ballast
