#include "ballast/kernels/residual_norm.h"

#include "ballast/kernels/residual_function.h"
#include "ballast/kernels/select.h"

namespace ballast {
namespace {

torch::Tensor scaled(const torch::Tensor& x, const Factor& factor) {
  if (factor.trained.defined()) return x * factor.trained;
  return factor.constant == 1 ? x : x * factor.constant;
}

torch::Tensor normed(const torch::Tensor& x, const std::optional<NormParameters>& parameters) {
  if (!parameters) return x;
  return norm_reference(x, parameters->gain, parameters->bias, parameters->spec);
}

}  // namespace

torch::Tensor residual_norm_reference(const ResidualInputs& inputs) {
  const torch::Tensor branch =
      normed(dropout_reference(inputs.branch, inputs.dropout), inputs.norm_mid);
  return normed(
      scaled(inputs.shortcut, inputs.shortcut_factor) + scaled(branch, inputs.branch_factor),
      inputs.norm_out);
}

torch::Tensor residual_norm(const ResidualInputs& inputs) {
  const NormParameters none;
  const NormParameters& mid = inputs.norm_mid ? *inputs.norm_mid : none;
  const NormParameters& out = inputs.norm_out ? *inputs.norm_out : none;
  const bool serves = fused_serves({inputs.shortcut, inputs.branch, mid.gain, mid.bias,
                                    inputs.shortcut_factor.trained, inputs.branch_factor.trained,
                                    out.gain, out.bias});
  return serves ? fused_residual(inputs) : residual_norm_reference(inputs);
}

}  // namespace ballast
