#include "ballast/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "ballast/kernels/newton_schulz.h"

namespace ballast {
namespace {

double factor(MuonScale scale, const torch::Tensor& matrix) {
  const auto rows = static_cast<double>(matrix.size(0));
  const auto columns = static_cast<double>(matrix.size(1));
  switch (scale) {
    case MuonScale::spectral:
      return std::sqrt(std::max(1.0, rows / columns));
    case MuonScale::match_adam:
      return 0.2 * std::sqrt(std::max(rows, columns));
  }
  return 1;
}

}  // namespace

void Muon::update(std::span<const ParameterStep> all, int64_t) const {
  for_matrices(all, [this](const ParameterStep& step) {
    const torch::Tensor g = step.scaled_gradient();
    const torch::Tensor& mean = step.state[0].tensor;
    mean.mul_(momentum).add_(g, 1 - momentum);
    const torch::Tensor wanted = nesterov ? mean * momentum + g * (1 - momentum) : mean;
    const torch::Tensor made = newton_schulz(as_matrix(wanted), iterations, eps);
    step.change((made * (step.rate() * factor(scale, made))).view_as(step.value),
                step.decay(weight_decay) * step.rate());
  });
}

}  // namespace ballast
