#include "ballast/kernels/norm.h"

#include <limits>

#include "ballast/kernels/residual_function.h"
#include "ballast/kernels/select.h"

namespace ballast {

torch::Tensor norm_divisor(const torch::Tensor& mean_square, const NormSpec& spec) {
  // A row of zeros has no slope; without the smallest float its gradient would be 0 / 0.
  constexpr double tiny = std::numeric_limits<float>::min();
  switch (spec.placement) {
    case EpsPlacement::inside_root:
      return (mean_square + spec.eps).clamp_min(tiny).sqrt();
    case EpsPlacement::outside_root:
      return mean_square.clamp_min(tiny).sqrt() + spec.eps;
    case EpsPlacement::clamp:
      return mean_square.clamp_min(tiny).sqrt().clamp_min(spec.eps);
  }
  return mean_square.sqrt();
}

namespace {

bool is_narrow(torch::ScalarType type) { return type == torch::kHalf || type == torch::kBFloat16; }

}  // namespace

torch::Tensor norm_reference(const torch::Tensor& x, const torch::Tensor& gain,
                             const torch::Tensor& bias, const NormSpec& spec) {
  if (x.size(-1) == 0) return x;
  const torch::ScalarType type = x.scalar_type();
  torch::Tensor centred = is_narrow(type) ? x.to(torch::kFloat32) : x;
  if (spec.statistic == Statistic::layer) {
    // A constant shift changes no result, and by an element of the row it makes a common offset
    // vanish before anything is rounded.
    centred = centred - centred.slice(-1, 0, 1).detach();
    centred = centred - centred.mean(-1, true);
  }
  torch::Tensor y = centred / norm_divisor(centred.square().mean(-1, true), spec);
  if (gain.defined()) y = y * gain;
  if (bias.defined()) y = y + bias;
  return y.to(type);
}

torch::Tensor norm(const torch::Tensor& x, const torch::Tensor& gain, const torch::Tensor& bias,
                   const NormSpec& spec) {
  if (!fused_serves({x, gain, bias})) return norm_reference(x, gain, bias, spec);
  return fused_residual({.shortcut = x, .norm_out = NormParameters{gain, bias, spec}});
}

}  // namespace ballast
