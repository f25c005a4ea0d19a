#include "ballast/base/moments.h"

namespace ballast {

Moments moments(const torch::Tensor& values) {
  if (values.numel() == 0) return {};
  const torch::NoGradGuard no_grad;
  const torch::Tensor wide = values.detach().to(torch::kFloat64);
  return {wide.mean().item<double>(), wide.square().mean().item<double>()};
}

}  // namespace ballast
