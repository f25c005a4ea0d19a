#pragma once

#include <cstdint>

#include "ballast/recipe/recipe.h"

namespace ballast {

/// Weights in the matrices and tables of a model; biases and norms are not counted. A double, for
/// sizes that no machine has are to be told apart too.
double matrix_weights(const ModelOptions& options, const VocabularySizes& sizes);

/// What a weight takes while a model is used, or trained: with its gradient and what the
/// optimizer keeps of it, at the least.
enum class Purpose { use, training };

/// Throws ResourceError when the weights alone, in float32, exceed the memory of this machine with
/// its swap space, or what this process may have (RLIMIT_AS).
void refuse_too_large(const Recipe& recipe, const VocabularySizes& sizes, Purpose purpose);

}  // namespace ballast
