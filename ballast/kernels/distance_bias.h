#pragma once

#include <torch/types.h>

namespace ballast {

/// The columns of a bias [H, 2 R + 1] for distances of any shape, in front of which H comes.
inline torch::Tensor bias_at(const torch::Tensor& bias, const torch::Tensor& distance) {
  const int64_t reach = bias.size(1) / 2;
  const torch::Tensor columns = distance.clamp(-reach, reach) + reach;
  std::vector<int64_t> sizes = columns.sizes().vec();
  sizes.insert(sizes.begin(), bias.size(0));
  return bias.index_select(1, columns.flatten()).view(sizes);
}

}  // namespace ballast
