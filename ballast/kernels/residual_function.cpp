#include "ballast/kernels/residual_function.h"

#include <torch/autograd.h>

#include "ballast/kernels/held.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"
#include "ballast/loops/residual_loops.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The tensors of a call in the order in which autograd sees them, and two that a backward pass may
/// find behind them.
enum Place { x, f, gain_mid, bias_mid, a, b, gain_out, bias_out, places, result = places, slopes };

/// What of a call is not a tensor.
struct ResidualCall {
  float shortcut_constant, branch_constant;
  DropRow drop;
  std::optional<NormSpec> norm_mid, norm_out;
  bool has_branch, learns_a, learns_b;
};

/// An autograd function takes no undefined tensors, so an absent one is empty.
bool present(const torch::Tensor& t) { return t.defined() && t.numel() > 0; }

float* data_of(const torch::Tensor& t) { return present(t) ? t.data_ptr<float>() : nullptr; }

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

/// `like` has the shape of x.
ResidualView view_of(const ResidualCall& call, at::TensorList t, const torch::Tensor& like) {
  const int64_t d = like.size(-1);
  return {.rows = like.numel() / d,
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

/// Keeps what the backward pass needs. The result is kept by whoever reads it next, so to take the
/// normalised rows from there costs no memory; without an outer norm no values are needed at all.
variable_list kept(const ResidualCall& call, const ResidualView& view, at::TensorList t,
                   const torch::Tensor& out, const torch::Tensor& row_slopes) {
  const bool walks = (call.has_branch && (call.norm_mid || call.learns_b)) ||
                     (call.norm_out && !invertible(view.norm_out, view.d));
  variable_list all = t.vec();
  if (walks) return all;
  if (!call.learns_a) all[x] = torch::Tensor();
  all[f] = torch::Tensor();
  all.push_back(call.norm_out ? out : torch::Tensor());
  all.push_back(call.norm_out ? row_slopes : torch::Tensor());
  return all;
}

/// Sums over all rows, [row_sums, d].
torch::Tensor run_backward(const ResidualView& view, const ResidualResult* recalled,
                           const ResidualGradient& gradient, const torch::TensorOptions& options) {
  const RowBlocks blocks = blocks_of(view);
  const torch::Tensor sums = torch::zeros({blocks.count(), row_sums, view.d}, options);
  for_each_task(blocks.count(), [&](int64_t task) {
    join_rows_backward(view, recalled, gradient, blocks.begin(task), blocks.end(task),
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
    const ResidualView view = view_of(call, tensors, tensors[x]);
    torch::Tensor out = torch::empty_like(tensors[x]);
    torch::Tensor row_slopes = torch::empty({call.norm_out ? view.rows : 0, 2}, out.options());
    const ResidualResult written{out.data_ptr<float>(), row_slopes.data_ptr<float>()};
    const RowBlocks blocks = blocks_of(view);
    for_each_task(blocks.count(), [&](int64_t task) {
      join_rows(view, blocks.begin(task), blocks.end(task), written);
    });
    hold(*context, call);
    context->save_for_backward(kept(call, view, tensors, out, row_slopes));
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("residual_norm");
    const variable_list t = context->get_saved_variables();
    const auto& call = held<ResidualCall>(*context);
    const torch::Tensor out = gradients[0].contiguous();
    const ResidualView view = view_of(call, t, out);
    variable_list found(places + 1);
    found[x] = torch::empty_like(out);
    if (call.has_branch) found[f] = torch::empty_like(out);
    const bool recalls = t.size() > places;
    const ResidualResult forward =
        recalls ? ResidualResult{data_of(t[result]), data_of(t[slopes])} : ResidualResult{};
    const torch::Tensor sums = run_backward(
        view, recalls ? &forward : nullptr,
        {data_of(out), found[x].data_ptr<float>(),
         call.has_branch ? found[f].data_ptr<float>() : nullptr, call.learns_a, call.learns_b},
        out.options());
    for (int64_t place = gain_mid; place < places; ++place) {
      found[place] = shaped_like(sums[place - gain_mid], t[place]);
    }
    return found;
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
                          drop_row_of(inputs.dropout),
                          spec_of(inputs.norm_mid),
                          spec_of(inputs.norm_out),
                          inputs.branch.defined(),
                          learns({inputs.shortcut_factor.trained}),
                          learns({inputs.branch_factor.trained})};
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
