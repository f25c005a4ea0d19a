#include "ballast/optim/adafactor.h"

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

/// g / sqrt(v) after v has taken in the squares of this step; `state` begins with v, or its rows
/// and columns.
torch::Tensor normalised(const torch::Tensor& g, const std::vector<Kept>& state, double eps,
                         double beta2) {
  const torch::Tensor squares = (g * g).add_(eps);
  const torch::Tensor& first = state[0].tensor;
  if (state[0].per == Per::element) {
    first.mul_(beta2).add_(squares, 1 - beta2);
    return g * first.rsqrt();
  }
  const torch::Tensor& columns = state[1].tensor;
  const torch::Tensor matrix = as_matrix(squares);
  first.mul_(beta2).add_(matrix.mean(1), 1 - beta2);
  columns.mul_(beta2).add_(matrix.mean(0), 1 - beta2);
  const torch::Tensor row_factor = (first / first.mean()).rsqrt_().unsqueeze(1);
  return (as_matrix(g) * row_factor * columns.rsqrt()).view_as(g);
}

}  // namespace

void Adafactor::update(std::span<const ParameterStep> all, int64_t t) const {
  const auto steps = static_cast<double>(t);
  const double beta2 = 1 - std::pow(steps, -beta2_power);
  for_matrices(all, [=, this](const ParameterStep& step) {
    const double lr_now = relative_step ? std::min(step.lr, 1 / std::sqrt(steps)) : step.lr;
    const double size = scale_parameter ? std::max(eps_weight, rms(step.weights())) : 1;
    const double rate = lr_now * step.lr_scale * size;
    const double eps_squared = eps * step.epsilon_scale * step.epsilon_scale;
    torch::Tensor move = normalised(step.scaled_gradient(), step.state, eps_squared, beta2);
    move.mul_(rate / std::max(1.0, rms(move) / clip_threshold));
    if (beta1 > 0) {
      const torch::Tensor& mean = step.state.back().tensor;
      move = mean.mul_(beta1).add_(move, 1 - beta1);
    }
    step.change(move, step.decay(weight_decay) * rate);
  });
}

}  // namespace ballast
