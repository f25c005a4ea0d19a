#pragma once

#include <torch/types.h>

#include <cstdint>

namespace ballast {

/// About U Vᵀ of a matrix U S Vᵀ [m, n]: the matrix with the same singular vectors and all singular
/// values near 1 (from 0.7 to 1.2 after five steps, for those that are not tiny beside the
/// largest). With X = G / (||G||_F + epsilon), transposed where m > n, it repeats
///
///     A = X Xᵀ        X <- a X + (b A + c A A) X        (a, b, c) = (3.4445, -4.7750, 2.0315)
///
/// Source: Jordan et al. 2024, Muon. Products are of the matrix's own type, float32 or float64,
/// where the authors' code rounds to bfloat16. A matrix of zeros stays one.
torch::Tensor newton_schulz(const torch::Tensor& matrix, int64_t steps, double epsilon);

/// The ATen version, for any device and type.
torch::Tensor newton_schulz_reference(const torch::Tensor& matrix, int64_t steps, double epsilon);

}  // namespace ballast
