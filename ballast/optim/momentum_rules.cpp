#include "ballast/optim/momentum_rules.h"

namespace ballast {

void Sgd::update(std::span<const ParameterStep> all, int64_t) const {
  for_elements(all, [this](const ParameterStep& step) {
    const double share = step.decay(weight_decay);
    const bool is_coupled = decay == WeightDecay::coupled;
    torch::Tensor move = step.scaled_gradient();
    if (is_coupled && share > 0) move.add_(step.weights(), share);
    if (momentum > 0) {
      const torch::Tensor& mean = step.state[0].tensor;
      mean.mul_(momentum).add_(move);
      move = nesterov ? move.add_(mean, momentum) : mean;
    }
    step.change(move * step.rate(), is_coupled ? 0 : share * step.rate());
  });
}

void Lion::update(std::span<const ParameterStep> all, int64_t) const {
  for_elements(all, [this](const ParameterStep& step) {
    const torch::Tensor g = step.scaled_gradient();
    const torch::Tensor& mean = step.state[0].tensor;
    const torch::Tensor move = (mean * beta1 + g * (1 - beta1)).sign_();
    mean.mul_(beta2).add_(g, 1 - beta2);
    step.change(move.mul_(step.rate()), step.decay(weight_decay) * step.rate());
  });
}

}  // namespace ballast
