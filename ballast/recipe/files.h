#pragma once

#include <string>
#include <vector>

#include "ballast/model/contradictions.h"
#include "ballast/recipe/recipe.h"

namespace ballast {

// The files that a recipe names: text, and vocabularies that are given.

/// The places in a recipe that name the file of a vocabulary.
std::vector<std::string*> vocabulary_files(DataOptions& data);

/// Every contradiction between a recipe's vocabularies and the rest of it.
std::vector<Contradiction> vocabulary_contradictions(const Recipe& recipe);

/// What keeps the text files of a recipe from being read, as far as that shows without reading
/// them: what is missing, empty, forbidden, or no regular file. A recipe's text is read more than
/// once, so pipes are refused.
std::vector<Contradiction> text_file_problems(const Recipe& recipe);

/// The same of the vocabularies that a recipe gives.
std::vector<Contradiction> vocabulary_file_problems(const Recipe& recipe);

}  // namespace ballast
