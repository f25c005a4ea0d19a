#pragma once

#include <torch/types.h>

namespace ballast {

/// out = scale * left right + bias through oneDNN; float32 on the CPU, any strides that are those
/// of a matrix or its transpose. Shapes [m, k], [k, n], [n] or undefined; `out` [m, n] is
/// contiguous.
///
/// oneDNN keeps its primitives in a bounded cache of its own, safe for threads: a new shape costs
/// some tens of microseconds, a known one a few. A bias goes only with scale 1.
void matmul_into(torch::Tensor out, const torch::Tensor& left, const torch::Tensor& right,
                 const torch::Tensor& bias = {}, float scale = 1);

}  // namespace ballast
