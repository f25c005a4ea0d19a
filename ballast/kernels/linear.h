#pragma once

#include <torch/types.h>

#include "ballast/base/precision.h"
#include "ballast/loops/activation.h"

namespace ballast {

struct LinearOptions {
  double multiplier = 1;  ///< of the matrix product, not of the bias (table two)
  Activation activation = {};
  torch::Tensor bf16_weight = {};  ///< the weight's bfloat16 copy; undefined: float32 products
  torch::Tensor bf16_x = {};       ///< the same of x; undefined: rounded by the kernel
  Precision result = Precision::float32;  ///< bf16, with `bf16_weight`: y in bfloat16
};

/// So many rows of x at most, where no gradient is asked for, have a product of their own: it reads
/// the weight once, as fast as memory gives it, and a row has the bits that it has alone.
inline constexpr int64_t few_rows = 16;

/// activation(multiplier * x weight^T + bias).
///
/// x [N, fan_in], weight [fan_out, fan_in], bias [fan_out] or undefined; returns [N, fan_out], or
/// [N, fan_out / 2] for a gated pair, whose weight holds the rows of g, then those of u.
/// With `bf16_weight` all three products, forward and backward, take operands rounded to bfloat16
/// and sum in float32; the gradients of weight and bias are float32, that of x has the type of x.
/// Then x may itself be a bfloat16 tensor, and its copy is what the backward pass keeps.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     const LinearOptions& options = {});

/// The ATen version, for any device, type and derivative.
torch::Tensor linear_reference(const torch::Tensor& x, const torch::Tensor& weight,
                               const torch::Tensor& bias, const LinearOptions& options = {});

}  // namespace ballast
