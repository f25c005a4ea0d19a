#pragma once

#include <torch/types.h>

namespace ballast {

/// Throws RecipeError when a fused backward runs with create_graph: its result has no derivative,
/// and without this the second derivative would silently miss a part.
void refuse_second_derivative(const char* kernel);

}  // namespace ballast
