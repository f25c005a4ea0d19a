#pragma once

#include <vector>

#include "ballast/recipe/resolve.h"

namespace ballast {

/// What keeps the text files of a recipe from being read, as far as that shows without reading
/// them: what is missing, empty, forbidden, or no regular file. A recipe's text is read more than
/// once, so pipes are refused.
std::vector<Contradiction> text_file_problems(const Recipe& recipe);

/// The same of the vocabularies that a recipe gives.
std::vector<Contradiction> vocabulary_file_problems(const Recipe& recipe);

}  // namespace ballast
