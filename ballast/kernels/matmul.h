#pragma once

#include <torch/types.h>

namespace ballast {

/// out = scale * left right + bias through oneDNN, on the CPU, any strides that are those of a
/// matrix or its transpose. Shapes [m, k], [k, n], [n] or undefined; `out` [m, n] is contiguous.
///
/// Both operands are float32 or both bfloat16; `out` is float32, or bfloat16 from bfloat16
/// operands; the bias is float32. Sums are float32. Where `bf16_is_fast` is not true the product of
/// bfloat16 operands is that of the same numbers in float32.
///
/// oneDNN keeps its primitives in a bounded cache of its own, safe for threads: a new shape costs
/// some tens of microseconds, a known one a few. A bias goes only with scale 1.
void matmul_into(torch::Tensor out, const torch::Tensor& left, const torch::Tensor& right,
                 const torch::Tensor& bias = {}, float scale = 1);

/// out += scale * left right, `out` float32.
void add_matmul(torch::Tensor out, const torch::Tensor& left, const torch::Tensor& right,
                float scale = 1);

}  // namespace ballast
