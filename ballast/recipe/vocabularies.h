#pragma once

#include <string>
#include <vector>

#include "ballast/model/contradictions.h"
#include "ballast/recipe/recipe.h"

namespace ballast {

/// The places in a recipe that name the file of a vocabulary.
std::vector<std::string*> vocabulary_files(DataOptions& data);

/// Every contradiction between a recipe's vocabularies and the rest of it.
std::vector<Contradiction> vocabulary_contradictions(const Recipe& recipe);

}  // namespace ballast
