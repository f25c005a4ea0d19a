#include "ballast/residual/gate.h"

#include <algorithm>
#include <numeric>

#include "ballast/kernels/norm.h"

namespace ballast {
namespace {

torch::Tensor mapped(GateMap map, const torch::Tensor& x, int64_t lanes) {
  switch (map) {
    case GateMap::identity:
      break;
    case GateMap::tanh:
      return x.tanh();
    case GateMap::sigmoid:
      return x.sigmoid();
    case GateMap::twice_sigmoid:
      return 2 * x.sigmoid();
    case GateMap::softmax:
      return torch::softmax(x, -1);
    case GateMap::doubly_stochastic:
      // A factor common to all elements changes nothing and keeps the largest at 1.
      return doubly_stochastic((x - x.amax({-2, -1}, true)).exp());
    case GateMap::permutations: {
      const torch::Tensor shares = torch::softmax(x.flatten(1), -1);
      return torch::tensordot(shares, permutation_matrices(lanes).to(shares.options()), {1}, {0});
    }
  }
  return x;
}

}  // namespace

int64_t gate_outputs(const Gate& gate, int64_t rows, int64_t columns) {
  if (gate.outer != GateMap::permutations) return rows * columns;
  int64_t count = 1;
  for (int64_t i = 2; i <= columns; ++i) count *= i;
  return count;
}

int64_t gate_inputs(const Gate& gate, int64_t lanes, int64_t d_model) {
  return gate.all_lanes ? lanes * d_model : d_model;
}

torch::Tensor gated(const Gate& gate, const GateTensors& tensors,
                    const std::vector<torch::Tensor>& lanes, int64_t rows) {
  const auto n = static_cast<int64_t>(lanes.size());
  const int64_t count = lanes.front().size(0), d = lanes.front().size(1);
  const NormSpec spec{gate.center ? Statistic::layer : Statistic::rms, 1e-6,
                      EpsPlacement::inside_root};
  torch::Tensor logits;
  if (gate.all_lanes) {
    const torch::Tensor read = norm(torch::cat(lanes, 1), {}, {}, spec);
    logits = torch::mm(read, tensors.weight.t());
    if (gate.outer != GateMap::permutations) logits = logits.view({count, rows, n});
  } else {
    // Lane j brings out column j, by the same matrix [rows, d] for every lane.
    const torch::Tensor read = norm(torch::stack(lanes, 1).reshape({count * n, d}), {}, {}, spec);
    logits = torch::mm(read, tensors.weight.t()).view({count, n, rows}).transpose(1, 2);
  }
  const torch::Tensor inner = mapped(gate.inner, logits, n) * tensors.scale;
  return mapped(gate.outer, inner + tensors.start.view(logits.sizes().slice(1)), n)
      .view({count, rows, n});
}

std::vector<torch::Tensor> mixed_by_row(const torch::Tensor& weights,
                                        const std::vector<torch::Tensor>& lanes) {
  return torch::bmm(weights, torch::stack(lanes, 1)).unbind(1);
}

torch::Tensor doubly_stochastic(const torch::Tensor& positive, int rounds) {
  torch::Tensor m = positive;
  for (int i = 0; i < rounds; ++i) {
    m = m / m.sum(-2, true);
    m = m / m.sum(-1, true);
  }
  return m;
}

torch::Tensor permutation_matrices(int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const torch::Tensor identity = torch::eye(n);
  std::vector<torch::Tensor> all;
  do {
    all.push_back(identity.index_select(0, torch::tensor(order)));
  } while (std::next_permutation(order.begin(), order.end()));
  return torch::stack(all);
}

}  // namespace ballast
