#pragma once

#include <torch/types.h>

#include <array>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

enum class Activation { identity, relu, gelu, gelu_tanh, silu };

template <>
struct EnumNames<Activation> {
  static constexpr std::array<std::pair<std::string_view, Activation>, 5> value{
      {{"identity", Activation::identity},
       {"relu", Activation::relu},
       {"gelu", Activation::gelu},
       {"gelu_tanh", Activation::gelu_tanh},
       {"silu", Activation::silu}}};
};

struct LinearOptions {
  double multiplier = 1;  ///< of the matrix product, not of the bias (table two)
  Activation activation = Activation::identity;
};

/// activation(multiplier * x weight^T + bias).
///
/// x [N, fan_in], weight [fan_out, fan_in], bias [fan_out] or undefined; returns [N, fan_out].
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     LinearOptions options = {});

/// The ATen version, for any device, type and derivative.
torch::Tensor linear_reference(const torch::Tensor& x, const torch::Tensor& weight,
                               const torch::Tensor& bias, LinearOptions options = {});

/// The activation alone, any shape. GELU(1) is 0.8413447 (`gelu`, erf) or 0.8411920 (`gelu_tanh`).
torch::Tensor activate(const torch::Tensor& x, Activation activation);

}  // namespace ballast
