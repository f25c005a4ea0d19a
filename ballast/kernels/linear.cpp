#include "ballast/kernels/linear.h"

namespace ballast {

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return torch::relu(x);
    case Activation::gelu:
      return torch::gelu(x, "none");
    case Activation::gelu_tanh:
      return torch::gelu(x, "tanh");
    case Activation::silu:
      return torch::silu(x);
  }
  return x;
}

torch::Tensor linear_reference(const torch::Tensor& x, const torch::Tensor& weight,
                               const torch::Tensor& bias, LinearOptions options) {
  torch::Tensor y = torch::matmul(x, weight.t());
  if (options.multiplier != 1) y = y * options.multiplier;
  if (bias.defined()) y = y + bias;
  return activate(y, options.activation);
}

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     LinearOptions options) {
  return linear_reference(x, weight, bias, options);
}

}  // namespace ballast
