#include "ballast/kernels/linear.h"

#include <torch/autograd.h>

#include <type_traits>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/kernels/activation.h"
#include "ballast/kernels/bf16.h"
#include "ballast/kernels/held.h"
#include "ballast/kernels/matmul.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"
#include "ballast/loops/few_rows_loops.h"
#include "ballast/loops/linear_loops.h"
#include "ballast/loops/outer_sum.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What both passes know of a call, besides tensors.
struct LinearCall {
  double multiplier;
  Activation activation;
  torch::ScalarType x_type;
  bool has_bias, narrow_result;

  LinearCall(const torch::Tensor& x, bool has_bias, const LinearOptions& options)
      : multiplier(options.multiplier),
        activation(options.activation),
        x_type(x.scalar_type()),
        has_bias(has_bias),
        narrow_result(options.bf16_weight.defined() && options.result == Precision::bf16) {}
};

Epilogue epilogue_of(const torch::Tensor& y, const torch::Tensor& bias, const LinearCall& call) {
  return {y.size(0), y.size(1), bias.defined() ? bias.data_ptr<float>() : nullptr,
          static_cast<float>(call.multiplier), call.activation};
}

/// The result, and z where the backward pass needs it.
struct Forward {
  torch::Tensor y, z;
};

torch::Tensor result_for(const torch::Tensor& z, const Activation& activation) {
  const bool in_place = activation.is_identity() || derivative_from_output(activation);
  return in_place ? z : torch::empty({z.size(0), z.size(1) / activation.arguments()}, z.options());
}

Forward wide_forward(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     const LinearCall& call) {
  torch::Tensor z = torch::empty({x.size(0), weight.size(0)}, x.options().dtype(torch::kFloat32));
  if (call.activation.is_identity() && call.multiplier == 1) {
    matmul_into(z, x, weight.t(), bias);
    return {z, {}};
  }
  matmul_into(z, x, weight.t());
  const torch::Tensor y = result_for(z, call.activation);
  finish_product(epilogue_of(y, bias, call), z.data_ptr<float>(), y.data_ptr<float>());
  return {y, call.activation.is_identity() ? torch::Tensor() : z};
}

/// The same with a bfloat16 result, whose z is rounded once, with its bias.
Forward narrow_forward(const torch::Tensor& x, const torch::Tensor& weight,
                       const torch::Tensor& bias, LinearCall call) {
  torch::Tensor z = torch::empty({x.size(0), weight.size(0)}, x.options());
  const Activation activation = std::exchange(call.activation, {});
  if (call.multiplier == 1) {
    matmul_into(z, x, weight.t(), bias);
  } else {
    z = rounded(wide_forward(x, weight, bias, call).y);
  }
  if (activation.is_identity()) return {z, {}};
  const torch::Tensor y = result_for(z, activation);
  finish_product({y.size(0), y.size(1), nullptr, 1, activation}, bf16_data(z), bf16_data(y));
  return {y, z};
}

template <class T>
T* data_of(const torch::Tensor& t) {
  if constexpr (std::is_same_v<T, float>) {
    return t.data_ptr<float>();
  } else {
    return bf16_data(t);
  }
}

/// The gradient by z as a tensor of T's type; adds that by the bias where it is defined.
template <class T, class Out>
torch::Tensor product_gradient(const torch::Tensor& gradient, const torch::Tensor& saved,
                               const Activation& activation, const torch::Tensor& bias) {
  constexpr auto type = std::is_same_v<Out, float> ? torch::kFloat32 : torch::kBFloat16;
  const int64_t rows = gradient.size(0), columns = gradient.size(1);
  torch::Tensor out =
      torch::empty({rows, columns * activation.arguments()}, gradient.options().dtype(type));
  activation_gradient(GradientRows<T, Out>{rows, columns, activation, data_of<T>(gradient),
                                           saved.defined() ? data_of<T>(saved) : nullptr,
                                           data_of<Out>(out),
                                           bias.defined() ? bias.data_ptr<float>() : nullptr});
  return out;
}

torch::Tensor narrow_product_gradient(const torch::Tensor& gradient, const torch::Tensor& saved,
                                      const Activation& activation, const torch::Tensor& bias) {
  if (!is_bf16(gradient)) {
    return product_gradient<float, uint16_t>(gradient, saved, activation, bias);
  }
  if (activation.is_identity() && !bias.defined()) return gradient;
  return product_gradient<uint16_t, uint16_t>(gradient, saved, activation, bias);
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
    const torch::Tensor added = bias ? bias->contiguous() : torch::Tensor();
    const Forward result = call.narrow_result ? narrow_forward(rows, matrix, added, call)
                                              : wide_forward(rows, matrix, added, call);
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
    const torch::Tensor gradient =
        call.activation.is_identity()
            ? incoming
            : product_gradient<float, float>(incoming, saved[2], call.activation, {});
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
    if (call.has_bias) bias = torch::zeros({saved[1].size(0)}, wide);
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

torch::Tensor linear_reference(const torch::Tensor& x, const torch::Tensor& weight,
                               const torch::Tensor& bias, const LinearOptions& options) {
  torch::Tensor y = reference_product(x, weight, options);
  if (options.multiplier != 1) y = y * options.multiplier;
  if (bias.defined()) y = y + bias;
  y = activate(y, options.activation);
  return options.result == Precision::bf16 ? y.to(torch::kBFloat16) : y;
}

namespace {

template <class T>
void multiply_into(const torch::Tensor& z, const torch::Tensor& x, const torch::Tensor& weight) {
  multiply_few_rows(FewRows<T>{x.size(0), x.size(1), weight.size(0), data_of<T>(x),
                               data_of<T>(weight), z.data_ptr<float>()});
}

torch::Tensor few_rows_forward(const torch::Tensor& x, const torch::Tensor& weight,
                               const torch::Tensor& bias, const LinearOptions& options) {
  const LinearCall call(x, bias.defined(), options);
  const auto [rows, matrix] = operands(x, weight, options);
  const torch::Tensor z = torch::empty({rows.size(0), matrix.size(0)}, torch::kFloat32);
  is_bf16(rows) ? multiply_into<uint16_t>(z, rows, matrix) : multiply_into<float>(z, rows, matrix);
  torch::Tensor y = z;
  if (bias.defined() || call.multiplier != 1 || !call.activation.is_identity()) {
    y = result_for(z, call.activation);
    const torch::Tensor added = bias.defined() ? bias.contiguous() : bias;
    finish_product(epilogue_of(y, added, call), z.data_ptr<float>(), y.data_ptr<float>());
  }
  return call.narrow_result ? rounded(y) : y;
}

/// For an activation that `has_loop`.
torch::Tensor fused_linear(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, const LinearOptions& options) {
  if (x.size(0) <= few_rows && !learns({x, weight, bias})) {
    return few_rows_forward(x, weight, bias, options);
  }
  return FusedLinear::apply(x, weight, given(bias), options);
}

/// An activation in two steps: what a loop can do, and what ATen does then.
struct Steps {
  Activation looped, left;
};

Steps steps_of(const Activation& activation) {
  Steps steps{.looped = activation};
  std::swap(steps.looped.scale, steps.left.scale);
  std::swap(steps.looped.shift, steps.left.shift);
  if (has_loop(steps.looped)) return steps;
  return {.left = activation};
}

/// The product by the kernel, in float32, what no loop does by ATen.
torch::Tensor activated_apart(const torch::Tensor& x, const torch::Tensor& weight,
                              const torch::Tensor& bias, LinearOptions options) {
  const Steps steps = steps_of(options.activation);
  options.activation = steps.looped;
  const Precision result = std::exchange(options.result, Precision::float32);
  const torch::Tensor y = activate(fused_linear(x, weight, bias, options), steps.left);
  return result == Precision::bf16 && options.bf16_weight.defined() ? y.to(torch::kBFloat16) : y;
}

bool serves(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
            const LinearOptions& options) {
  if (x.dim() != 2 || !fused_serves({weight, bias})) return false;
  return fused_serves(x) || (options.bf16_weight.defined() && x.is_cpu() && is_bf16(x));
}

}  // namespace

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     const LinearOptions& options) {
  if (weight.size(0) % options.activation.arguments() != 0) {
    throw RecipeError("a gated pair needs a weight with an even number of rows, found " +
                      std::to_string(weight.size(0)));
  }
  if (!serves(x, weight, bias, options)) return linear_reference(x, weight, bias, options);
  if (!has_loop(options.activation)) return activated_apart(x, weight, bias, options);
  return fused_linear(x, weight, bias, options);
}

}  // namespace ballast
