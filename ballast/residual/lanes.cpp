#include "ballast/residual/lanes.h"

#include <utility>

namespace ballast {

Grid spread(const Grid& grid, int lanes, Spread how) {
  if (!grid.is_number()) return grid;
  const double value = grid.number();
  if (how == Spread::every_lane) return {std::vector<double>(lanes, value)};
  std::vector<double> first(lanes, 0);
  first.front() = value;
  if (how == Spread::first_lane) return {std::move(first)};
  std::vector<double> all(static_cast<size_t>(lanes) * lanes, 0);
  for (int i = 0; i < lanes; ++i) all[i * lanes + i] = value;
  return {lanes, std::move(all)};
}

std::vector<torch::Tensor> mixed(const Grid& weights, const std::vector<torch::Tensor>& lanes) {
  std::vector<torch::Tensor> sums(weights.rows());
  for (int i = 0; i < weights.rows(); ++i) {
    for (int j = 0; j < weights.columns(); ++j) {
      const double weight = weights.at(i, j);
      if (weight == 0) continue;
      const torch::Tensor term = weight == 1 ? lanes[j] : lanes[j] * weight;
      sums[i] = sums[i].defined() ? sums[i] + term : term;
    }
  }
  return sums;
}

std::vector<torch::Tensor> mixed(const torch::Tensor& weights,
                                 const std::vector<torch::Tensor>& lanes) {
  const auto count = static_cast<int64_t>(lanes.size());
  const torch::Tensor sums =
      torch::mm(weights.view({-1, count}), torch::stack(lanes).view({count, -1}));
  std::vector<torch::Tensor> rows = sums.unbind();
  for (torch::Tensor& row : rows) row = row.view(lanes.front().sizes());
  return rows;
}

}  // namespace ballast
