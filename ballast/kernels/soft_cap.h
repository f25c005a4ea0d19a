#pragma once

#include <torch/types.h>

namespace ballast {

/// c tanh(x / c), which keeps x between -c and c (Gemma 2, arXiv:2408.00118); x where c is 0.
inline torch::Tensor soft_capped(const torch::Tensor& x, double c) {
  return c == 0 ? x : torch::tanh(x / c) * c;
}

/// The same in place; returns its derivative 1 - tanh^2, undefined where c is 0.
inline torch::Tensor soft_cap_in_place(torch::Tensor x, double c) {
  if (c == 0) return {};
  x.div_(c).tanh_();
  torch::Tensor slope = 1 - x.square();
  x.mul_(c);
  return slope;
}

}  // namespace ballast
