#include "ballast/kernels/linear.h"

#include <torch/autograd.h>

#include "ballast/kernels/held.h"
#include "ballast/kernels/linear_loops.h"
#include "ballast/kernels/matmul.h"
#include "ballast/kernels/outer_sum.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Epilogue epilogue_of(const torch::Tensor& y, const torch::Tensor& bias, LinearOptions options) {
  return {y.size(0), y.size(1), bias.defined() ? bias.data_ptr<float>() : nullptr,
          static_cast<float>(options.multiplier), options.activation};
}

/// The result, and z where the backward pass needs it.
struct Forward {
  torch::Tensor y, z;
};

Forward run_forward(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                    LinearOptions options) {
  torch::Tensor z = torch::empty({x.size(0), weight.size(0)}, x.options());
  if (options.activation == Activation::identity && options.multiplier == 1) {
    matmul_into(z, x, weight.t(), bias);
    return {z, {}};
  }
  matmul_into(z, x, weight.t());
  const bool in_place =
      options.activation == Activation::identity || derivative_from_output(options.activation);
  torch::Tensor y = in_place ? z : torch::empty_like(z);
  finish_product(epilogue_of(y, bias, options), z.data_ptr<float>(), y.data_ptr<float>());
  return {y, options.activation == Activation::identity ? torch::Tensor() : z};
}

torch::Tensor product_gradient(const torch::Tensor& gradient, const torch::Tensor& saved,
                               LinearOptions options) {
  if (options.activation == Activation::identity) return gradient;
  torch::Tensor out = torch::empty_like(gradient);
  activation_gradient(epilogue_of(gradient, {}, options), gradient.data_ptr<float>(),
                      saved.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

/// Gradients of weight and bias; the bias costs no pass of its own.
std::pair<torch::Tensor, torch::Tensor> parameter_gradients(const torch::Tensor& gradient,
                                                            const torch::Tensor& x,
                                                            double multiplier) {
  torch::Tensor weight = torch::empty({gradient.size(1), x.size(1)}, x.options());
  torch::Tensor bias = torch::zeros({gradient.size(1)}, x.options());
  outer_sum({.left = gradient.data_ptr<float>(),
             .right = x.data_ptr<float>(),
             .rows = x.size(0),
             .left_columns = gradient.size(1),
             .right_columns = x.size(1),
             .out = weight.data_ptr<float>(),
             .left_sums = bias.data_ptr<float>(),
             .scale = static_cast<float>(multiplier)});
  return {weight, bias};
}

/// An autograd function takes no undefined tensors.
c10::optional<torch::Tensor> given(const torch::Tensor& t) {
  return t.defined() ? c10::optional<torch::Tensor>(t) : c10::nullopt;
}

struct LinearCall {
  LinearOptions options;
  bool has_bias;
};

struct FusedLinear : torch::autograd::Function<FusedLinear> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const c10::optional<torch::Tensor>& bias, LinearOptions options) {
    const torch::Tensor rows = x.contiguous(), matrix = weight.contiguous();
    const Forward result =
        run_forward(rows, matrix, bias ? bias->contiguous() : torch::Tensor(), options);
    hold(*context, LinearCall{options, bias.has_value()});
    context->save_for_backward({rows, matrix, result.z});
    return result.y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("linear");
    const variable_list saved = context->get_saved_variables();
    const auto& [options, has_bias] = held<LinearCall>(*context);
    const torch::Tensor gradient = product_gradient(gradients[0].contiguous(), saved[2], options);
    torch::Tensor x, weight, bias;
    if (context->needs_input_grad(0)) {
      x = torch::empty_like(saved[0]);
      matmul_into(x, gradient, saved[1], {}, static_cast<float>(options.multiplier));
    }
    if (context->needs_input_grad(1) || (has_bias && context->needs_input_grad(2))) {
      std::tie(weight, bias) = parameter_gradients(gradient, saved[0], options.multiplier);
    }
    return {x, weight, has_bias ? bias : torch::Tensor(), {}};
  }
};

}  // namespace

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
  if (!fused_serves({x, weight, bias}) || x.dim() != 2)
    return linear_reference(x, weight, bias, options);
  return FusedLinear::apply(x, weight, given(bias), options);
}

}  // namespace ballast
