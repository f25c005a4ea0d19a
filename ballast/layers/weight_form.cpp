#include "ballast/layers/weight_form.h"

#include <torch/utils.h>

namespace ballast {

torch::Tensor undivided(const WeightForm& form, const WeightTensors& tensors) {
  torch::Tensor v = tensors.weight;
  if (form.center) v = v - v.mean(1, true);
  return form.scales_inputs ? v * tensors.scale : v;
}

torch::Tensor divisor_of(const WeightForm& form, const WeightTensors& tensors,
                         const torch::Tensor& undivided) {
  switch (form.divisor) {
    case WeightDivisor::none:
      break;
    case WeightDivisor::row_length:
      return (undivided.square().sum(1, true) + form.eps).sqrt();
    case WeightDivisor::row_deviation:
      return (undivided.square().mean(1, true) + form.eps).sqrt();
    case WeightDivisor::spectral:
      return torch::dot(tensors.left, torch::mv(undivided, tensors.right));
  }
  return torch::ones({}, undivided.options());
}

torch::Tensor acting(const WeightForm& form, const WeightTensors& tensors) {
  torch::Tensor w = undivided(form, tensors);
  if (form.divisor != WeightDivisor::none) w = w / divisor_of(form, tensors, w);
  if (!tensors.gain.defined()) return w;
  return w * (form.gain == WeightGain::rows ? tensors.gain.unsqueeze(1) : tensors.gain);
}

void iterate(const WeightForm& form, const WeightTensors& tensors) {
  const torch::NoGradGuard no_grad;
  constexpr double tiny = 1e-12;  // a matrix of zeros has no singular vectors
  const torch::Tensor v = undivided(form, tensors);
  const auto unit = [](const torch::Tensor& x) { return x / x.norm().clamp_min(tiny); };
  tensors.left.copy_(unit(torch::mv(v, tensors.right)));
  tensors.right.copy_(unit(torch::mv(v.t(), tensors.left)));
}

torch::Tensor start_of_gain(const WeightForm& form, const WeightTensors& tensors) {
  constexpr int enough = 50;
  if (form.divisor == WeightDivisor::spectral) {
    for (int i = 0; i < enough; ++i) iterate(form, tensors);
  }
  if (!form.gain_undoes_divisor) return torch::ones_like(tensors.gain);
  return divisor_of(form, tensors, undivided(form, tensors)).flatten();
}

}  // namespace ballast
