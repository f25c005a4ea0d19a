#include "ballast/optim/layer_rules.h"

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

/// The means of Adam after a step, corrected for their start at 0.
struct Means {
  torch::Tensor first, second;
};

template <class Rule>
Means averaged(const Rule& rule, const ParameterStep& step, const torch::Tensor& g, int64_t t) {
  const torch::Tensor &first = step.state[0].tensor, &second = step.state[1].tensor;
  first.mul_(rule.beta1).add_(g, 1 - rule.beta1);
  second.mul_(rule.beta2).addcmul_(g, g, 1 - rule.beta2);
  return {first / (1 - std::pow(rule.beta1, t)), second / (1 - std::pow(rule.beta2, t))};
}

}  // namespace

void StableAdamW::update(std::span<const ParameterStep> all, int64_t t) const {
  for_matrices(all, [this, t](const ParameterStep& step) {
    const torch::Tensor g = step.scaled_gradient();
    const Means means = averaged(*this, step, g, t);
    const torch::Tensor root = means.second.sqrt();
    const double least = eps * step.epsilon_scale;
    const double excess = std::max(1.0, rms(g / root.clamp_min(least)));
    const double rate = step.rate() / excess;
    step.change(means.first / (root + least) * rate, step.decay(weight_decay) * rate);
  });
}

void NovoGrad::update(std::span<const ParameterStep> all, int64_t t) const {
  for_matrices(all, [this, t](const ParameterStep& step) {
    const torch::Tensor g = step.scaled_gradient();
    const torch::Tensor &first = step.state[0].tensor, &second = step.state[1].tensor;
    const double squares = std::pow(rms(g), 2) * static_cast<double>(g.numel());
    second.copy_(t == 1 ? torch::full_like(second, squares)
                        : second * beta2 + squares * (1 - beta2));
    const torch::Tensor move = g / (second.sqrt() + eps);
    first.mul_(beta1).add_(move).add_(step.weights(), step.decay(weight_decay));
    step.change(first * step.rate(), 0);
  });
}

void Lamb::update(std::span<const ParameterStep> all, int64_t t) const {
  for_matrices(all, [this, t](const ParameterStep& step) {
    const Means means = averaged(*this, step, step.scaled_gradient(), t);
    torch::Tensor move = means.first / (means.second.sqrt() + eps * step.epsilon_scale);
    double ratio = 1;
    if (step.decays) {
      const torch::Tensor w = step.weights();
      move.add_(w, step.decay(weight_decay));
      const double of_weights = rms(w), of_move = rms(move);
      if (of_weights > 0 && of_move > 0) ratio = of_weights / of_move;
    }
    step.change(move * (step.rate() * ratio), 0);
  });
}

}  // namespace ballast
