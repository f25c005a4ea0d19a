#include "ballast/kernels/residual_function.h"

#include <torch/autograd.h>

#include "ballast/kernels/held.h"
#include "ballast/kernels/residual_loops.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/tasks.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The tensors of a call in the order in which autograd sees them.
enum Place { x, f, gain_mid, bias_mid, a, b, gain_out, bias_out, places };

/// What of a call is not a tensor.
struct ResidualCall {
  float shortcut_constant, branch_constant;
  DropRow drop;
  std::optional<NormSpec> norm_mid, norm_out;
};

/// An autograd function takes no undefined tensors, so an absent one is empty.
bool present(const torch::Tensor& t) { return t.numel() > 0; }

const float* data_of(const torch::Tensor& t) { return present(t) ? t.data_ptr<float>() : nullptr; }

NormView norm_view(const std::optional<NormSpec>& spec, const torch::Tensor& gain,
                   const torch::Tensor& bias) {
  if (!spec) return {};
  return {true, *spec, data_of(gain), data_of(bias)};
}

FactorView factor_view(float constant, const torch::Tensor& trained) {
  if (!present(trained)) return {constant, nullptr};
  if (trained.numel() == 1) return {*trained.data_ptr<float>(), nullptr};
  return {1, trained.data_ptr<float>()};
}

ResidualView view_of(const ResidualCall& call, at::TensorList t) {
  const int64_t d = t[x].size(-1);
  return {.rows = t[x].numel() / d,
          .d = d,
          .shortcut = data_of(t[x]),
          .branch = data_of(t[f]),
          .shortcut_factor = factor_view(call.shortcut_constant, t[a]),
          .branch_factor = factor_view(call.branch_constant, t[b]),
          .drop = call.drop,
          .norm_mid = norm_view(call.norm_mid, t[gain_mid], t[bias_mid]),
          .norm_out = norm_view(call.norm_out, t[gain_out], t[bias_out])};
}

/// Borders that depend on the number of rows only make sums that depend on nothing else.
RowBlocks blocks_of(const ResidualView& view) { return {view.rows, 32, 32}; }

/// Sums over all rows, [row_sums, d].
torch::Tensor run_backward(const ResidualView& view, const ResidualGradient& gradient,
                           const torch::TensorOptions& options) {
  const RowBlocks blocks = blocks_of(view);
  const torch::Tensor sums = torch::zeros({blocks.count(), row_sums, view.d}, options);
  for_each_task(blocks.count(), [&](int64_t task) {
    join_rows_backward(view, gradient, blocks.begin(task), blocks.end(task),
                       sums.data_ptr<float>() + task * row_sums * view.d);
  });
  return sums.sum(0);
}

torch::Tensor shaped_like(const torch::Tensor& sums, const torch::Tensor& parameter) {
  if (!present(parameter)) return {};
  return parameter.numel() == 1 ? sums.sum().view(parameter.sizes()) : sums.view_as(parameter);
}

struct FusedResidual : torch::autograd::Function<FusedResidual> {
  static torch::Tensor forward(AutogradContext* context, at::TensorList tensors,
                               const ResidualCall& call) {
    const ResidualView view = view_of(call, tensors);
    torch::Tensor out = torch::empty_like(tensors[x]);
    const RowBlocks blocks = blocks_of(view);
    for_each_task(blocks.count(), [&](int64_t task) {
      join_rows(view, blocks.begin(task), blocks.end(task), out.data_ptr<float>());
    });
    hold(*context, call);
    context->save_for_backward(tensors.vec());
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("residual_norm");
    const variable_list t = context->get_saved_variables();
    const ResidualView view = view_of(held<ResidualCall>(*context), t);
    const torch::Tensor out = gradients[0].contiguous();
    variable_list result(places + 1);
    result[x] = torch::empty_like(t[x]);
    if (present(t[f])) result[f] = torch::empty_like(t[f]);
    const torch::Tensor sums = run_backward(view,
                                            {data_of(out), result[x].data_ptr<float>(),
                                             present(t[f]) ? result[f].data_ptr<float>() : nullptr},
                                            t[x].options());
    for (int64_t place = gain_mid; place < places; ++place) {
      result[place] = shaped_like(sums[place - gain_mid], t[place]);
    }
    return result;
  }
};

std::optional<NormSpec> spec_of(const std::optional<NormParameters>& norm) {
  return norm ? std::optional(norm->spec) : std::nullopt;
}

torch::Tensor packed(const torch::Tensor& t) {
  return t.defined() ? t.contiguous() : torch::empty({0});
}

}  // namespace

torch::Tensor fused_residual(const ResidualInputs& inputs) {
  if (inputs.shortcut.numel() == 0) return inputs.shortcut;
  const NormParameters none;
  const NormParameters& mid = inputs.norm_mid ? *inputs.norm_mid : none;
  const NormParameters& out = inputs.norm_out ? *inputs.norm_out : none;
  const ResidualCall call{static_cast<float>(inputs.shortcut_factor.constant),
                          static_cast<float>(inputs.branch_factor.constant),
                          drop_row_of(inputs.dropout), spec_of(inputs.norm_mid),
                          spec_of(inputs.norm_out)};
  const variable_list tensors{packed(inputs.shortcut),
                              packed(inputs.branch),
                              packed(mid.gain),
                              packed(mid.bias),
                              packed(inputs.shortcut_factor.trained),
                              packed(inputs.branch_factor.trained),
                              packed(out.gain),
                              packed(out.bias)};
  return FusedResidual::apply(at::TensorList(tensors), call);
}

}  // namespace ballast
