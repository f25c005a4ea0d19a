// A residual scheme of one's own. No list names it: `Residual` executes any form.
//
//     x' = x + f( norm(x) / sqrt(l) )        LayerNorm Scaling, Sun et al. 2025, arXiv:2502.05795

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>

#include "ballast/residual/residual.h"

namespace {

constexpr int64_t width = 64;

ballast::ResidualForm layer_norm_scaling(int layer) {
  return {.norms = {ballast::Point::read},
          .input = ballast::constant(1 / std::sqrt(static_cast<double>(layer)))};
}

torch::Tensor branch(const torch::Tensor& h) { return 2 * torch::tanh(h); }

torch::Tensor by_hand(const torch::Tensor& x, int layer) {
  return x + branch(torch::layer_norm(x, {width}) / std::sqrt(static_cast<double>(layer)));
}

}  // namespace

int main() {
  torch::manual_seed(1);
  torch::Tensor x = torch::randn({100, width});
  double largest_difference = 0;
  fmt::print("layer  1/sqrt(l)   Var x'\n");
  for (int layer = 1; layer <= 8; ++layer) {
    const ballast::ResidualForm form = layer_norm_scaling(layer);
    const ballast::Residual residual({.form = form, .norm = {}, .site = {.d_model = width}});
    const torch::Tensor next = residual.forward(x, branch).detach();
    largest_difference =
        std::max(largest_difference, (next - by_hand(x, layer)).abs().max().item<double>());
    x = next;
    fmt::print("{:>5}  {:>9.3f}  {:>7.3f}\n", layer, form.input.start.number(),
               x.var().item<double>());
  }
  fmt::print("largest difference from the formula by hand: {:.1e}\n", largest_difference);
  return largest_difference < 1e-4 ? 0 : 1;
}
