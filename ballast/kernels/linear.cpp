#include "ballast/kernels/linear.h"

#include <torch/autograd.h>

#include "ballast/kernels/bf16.h"
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

/// What both passes know of a call, besides tensors.
struct LinearCall {
  double multiplier;
  Activation activation;
  torch::ScalarType x_type, result_type;
  bool has_bias;

  LinearCall(const torch::Tensor& x, bool has_bias, const LinearOptions& options)
      : multiplier(options.multiplier),
        activation(options.activation),
        x_type(x.scalar_type()),
        result_type(options.result == Precision::bf16 ? torch::kBFloat16 : torch::kFloat32),
        has_bias(has_bias) {}
};

Epilogue epilogue_of(const torch::Tensor& y, const torch::Tensor& bias, const LinearCall& call) {
  return {y.size(0), y.size(1), bias.defined() ? bias.data_ptr<float>() : nullptr,
          static_cast<float>(call.multiplier), call.activation};
}

void finish(const Epilogue& epilogue, const torch::Tensor& z, const torch::Tensor& y) {
  if (is_bf16(z)) return finish_product(epilogue, bf16_data(z), bf16_data(y));
  finish_product(epilogue, z.data_ptr<float>(), y.data_ptr<float>());
}

/// The result, and z where the backward pass needs it.
struct Forward {
  torch::Tensor y, z;
};

Forward run_forward(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                    const LinearCall& call) {
  torch::Tensor z = torch::empty({x.size(0), weight.size(0)}, x.options().dtype(call.result_type));
  if (call.activation == Activation::identity && call.multiplier == 1) {
    matmul_into(z, x, weight.t(), bias);
    return {z, {}};
  }
  matmul_into(z, x, weight.t());
  const bool in_place =
      call.activation == Activation::identity || derivative_from_output(call.activation);
  torch::Tensor y = in_place ? z : torch::empty_like(z);
  finish(epilogue_of(y, bias, call), z, y);
  return {y, call.activation == Activation::identity ? torch::Tensor() : z};
}

torch::Tensor product_gradient(const torch::Tensor& gradient, const torch::Tensor& saved,
                               const LinearCall& call) {
  if (call.activation == Activation::identity) return gradient;
  torch::Tensor out = torch::empty_like(gradient);
  activation_gradient(epilogue_of(gradient, {}, call), gradient.data_ptr<float>(),
                      saved.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

/// The same in bfloat16; adds the gradient of the bias where that is defined.
torch::Tensor narrow_product_gradient(const torch::Tensor& gradient, const torch::Tensor& saved,
                                      Activation activation, const torch::Tensor& bias) {
  const bool plain = activation == Activation::identity;
  if (plain && is_bf16(gradient) && !bias.defined()) return gradient;
  torch::Tensor out = torch::empty(gradient.sizes(), gradient.options().dtype(torch::kBFloat16));
  float* sums = bias.defined() ? bias.data_ptr<float>() : nullptr;
  const int64_t rows = gradient.size(0), columns = gradient.size(1);
  if (is_bf16(gradient)) {
    narrow_gradient(GradientRows<uint16_t>{rows, columns, activation, bf16_data(gradient),
                                           plain ? nullptr : bf16_data(saved), bf16_data(out),
                                           sums});
  } else {
    narrow_gradient(GradientRows<float>{rows, columns, activation, gradient.data_ptr<float>(),
                                        plain ? nullptr : saved.data_ptr<float>(), bf16_data(out),
                                        sums});
  }
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

/// The matrices of the products: those of the call, or their bfloat16 copies.
struct Operands {
  torch::Tensor x, weight;
};

Operands operands(const torch::Tensor& x, const torch::Tensor& weight,
                  const LinearOptions& options) {
  if (!options.bf16_weight.defined()) return {x.contiguous(), weight.contiguous()};
  return {options.bf16_x.defined() ? options.bf16_x : rounded(x), options.bf16_weight};
}

struct FusedLinear : torch::autograd::Function<FusedLinear> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const c10::optional<torch::Tensor>& bias,
                               const LinearOptions& options) {
    const LinearCall call(x, bias.has_value(), options);
    const auto [rows, matrix] = operands(x, weight, options);
    const Forward result =
        run_forward(rows, matrix, bias ? bias->contiguous() : torch::Tensor(), call);
    hold(*context, call);
    context->save_for_backward({rows, matrix, result.z});
    return result.y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("linear");
    const variable_list saved = context->get_saved_variables();
    const auto& call = held<LinearCall>(*context);
    return is_bf16(saved[0]) ? narrow_backward(*context, gradients[0].contiguous(), saved, call)
                             : wide_backward(*context, gradients[0].contiguous(), saved, call);
  }

  static variable_list wide_backward(AutogradContext& context, const torch::Tensor& incoming,
                                     const variable_list& saved, const LinearCall& call) {
    const torch::Tensor gradient = product_gradient(incoming, saved[2], call);
    torch::Tensor x, weight, bias;
    if (context.needs_input_grad(0)) {
      x = torch::empty_like(saved[0]);
      matmul_into(x, gradient, saved[1], {}, static_cast<float>(call.multiplier));
    }
    if (context.needs_input_grad(1) || (call.has_bias && context.needs_input_grad(2))) {
      std::tie(weight, bias) = parameter_gradients(gradient, saved[0], call.multiplier);
    }
    return {x, weight, call.has_bias ? bias : torch::Tensor(), {}};
  }

  static variable_list narrow_backward(AutogradContext& context, const torch::Tensor& incoming,
                                       const variable_list& saved, const LinearCall& call) {
    const auto scale = static_cast<float>(call.multiplier);
    const auto wide = saved[0].options().dtype(torch::kFloat32);
    torch::Tensor x, weight, bias;
    if (call.has_bias) bias = torch::zeros({incoming.size(1)}, wide);
    const torch::Tensor gradient =
        narrow_product_gradient(incoming, saved[2], call.activation, bias);
    if (context.needs_input_grad(0)) {
      x = torch::empty(saved[0].sizes(), saved[0].options().dtype(call.x_type));
      matmul_into(x, gradient, saved[1], {}, scale);
    }
    if (context.needs_input_grad(1)) {
      weight = torch::empty(saved[1].sizes(), wide);
      matmul_into(weight, gradient.t(), saved[0], {}, scale);
    }
    return {x, weight, bias, {}};
  }
};

/// One product for any device. ATen's own of bfloat16 is slow on a CPU and rounds its sums there.
torch::Tensor reference_product(const torch::Tensor& x, const torch::Tensor& weight,
                                const LinearOptions& options) {
  if (!options.bf16_weight.defined()) return torch::matmul(x, weight.t());
  const torch::Tensor left = x.to(torch::kBFloat16), right = weight.to(torch::kBFloat16);
  const torch::ScalarType wide = weight.scalar_type();
  if (!x.is_cpu()) return torch::matmul(left, right.t()).to(wide);
  return torch::matmul(left.to(wide), right.to(wide).t());
}

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
                               const torch::Tensor& bias, const LinearOptions& options) {
  torch::Tensor y = reference_product(x, weight, options);
  if (options.multiplier != 1) y = y * options.multiplier;
  if (bias.defined()) y = y + bias;
  y = activate(y, options.activation);
  return options.result == Precision::bf16 ? y.to(torch::kBFloat16) : y;
}

namespace {

bool serves(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
            const LinearOptions& options) {
  if (x.dim() != 2 || !fused_serves({weight, bias})) return false;
  return fused_serves(x) || (options.bf16_weight.defined() && x.is_cpu() && is_bf16(x));
}

}  // namespace

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     const LinearOptions& options) {
  if (!serves(x, weight, bias, options)) return linear_reference(x, weight, bias, options);
  return FusedLinear::apply(x, weight, given(bias), options);
}

}  // namespace ballast
