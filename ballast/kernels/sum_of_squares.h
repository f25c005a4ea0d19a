#pragma once

#include <torch/types.h>

#include <span>

namespace ballast {

/// Sum of squares over all tensors in float64, in one pass over those that are float32 and on the
/// CPU; it does not depend on the number of threads. An undefined tensor adds nothing.
///
/// Finite float32 values never overflow it, so it is finite exactly when every element is.
double sum_of_squares(std::span<const torch::Tensor> tensors);

/// The ATen version, for any device and type.
double sum_of_squares_reference(std::span<const torch::Tensor> tensors);

}  // namespace ballast
