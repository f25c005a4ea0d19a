#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"
#include "ballast/base/precision.h"

namespace ballast {

/// The last three are pairs (Shazeer 2020, arXiv:2002.05202): f(g) * u of a row [g | u], with f
/// relu, gelu (erf) or silu; their result has half the columns of their argument.
enum class Activation { identity, relu, gelu, gelu_tanh, silu, reglu, geglu, swiglu };

template <>
struct EnumNames<Activation> {
  static constexpr std::array<std::pair<std::string_view, Activation>, 8> value{
      {{"identity", Activation::identity},
       {"relu", Activation::relu},
       {"gelu", Activation::gelu},
       {"gelu_tanh", Activation::gelu_tanh},
       {"silu", Activation::silu},
       {"reglu", Activation::reglu},
       {"geglu", Activation::geglu},
       {"swiglu", Activation::swiglu}}};
};

/// The f of a gated pair; nothing for an activation of single elements.
constexpr std::optional<Activation> gate_of(Activation activation) {
  switch (activation) {
    case Activation::reglu:
      return Activation::relu;
    case Activation::geglu:
      return Activation::gelu;
    case Activation::swiglu:
      return Activation::silu;
    default:
      return std::nullopt;
  }
}

/// Columns of the argument for each column of the result.
constexpr int64_t arguments_of(Activation activation) { return gate_of(activation) ? 2 : 1; }

struct LinearOptions {
  double multiplier = 1;  ///< of the matrix product, not of the bias (table two)
  Activation activation = Activation::identity;
  torch::Tensor bf16_weight = {};  ///< the weight's bfloat16 copy; undefined: float32 products
  torch::Tensor bf16_x = {};       ///< the same of x; undefined: rounded by the kernel
  Precision result = Precision::float32;  ///< bf16, with `bf16_weight`: y in bfloat16
};

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

/// The activation alone, over the last dimension. GELU(1) is 0.8413447 (`gelu`, erf) or 0.8411920
/// (`gelu_tanh`).
torch::Tensor activate(const torch::Tensor& x, Activation activation);

}  // namespace ballast
