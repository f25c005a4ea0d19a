#include "ballast/residual/gate.h"

#include "ballast/kernels/norm.h"

namespace ballast {
namespace {

torch::Tensor mapped(GateMap map, const torch::Tensor& x) {
  switch (map) {
    case GateMap::identity:
      break;
    case GateMap::tanh:
      return x.tanh();
    case GateMap::sigmoid:
      return x.sigmoid();
    case GateMap::twice_sigmoid:
      return 2 * x.sigmoid();
    case GateMap::doubly_stochastic:
      // A factor common to all elements changes nothing and keeps the largest at 1.
      return doubly_stochastic((x - x.amax({-2, -1}, true)).exp());
  }
  return x;
}

}  // namespace

std::vector<int64_t> gate_shape(const Gate& gate, int64_t rows, int64_t lanes, int64_t d_model) {
  if (gate.all_lanes) return {rows * lanes, lanes * d_model};
  return {rows, d_model};
}

torch::Tensor gated(const Gate& gate, const GateTensors& tensors,
                    const std::vector<torch::Tensor>& lanes, int64_t rows) {
  const auto n = static_cast<int64_t>(lanes.size());
  const int64_t count = lanes.front().size(0), d = lanes.front().size(1);
  const NormSpec spec{gate.center ? Statistic::layer : Statistic::rms, 1e-6,
                      EpsPlacement::inside_root};
  torch::Tensor logits;  // [N, rows, n]
  if (gate.all_lanes) {
    const torch::Tensor read = norm(torch::cat(lanes, 1), {}, {}, spec);
    logits = torch::mm(read, tensors.weight.t()).view({count, rows, n});
  } else {
    const torch::Tensor read = norm(torch::stack(lanes, 1).reshape({count * n, d}), {}, {}, spec);
    logits = torch::mm(read, tensors.weight.t()).view({count, n, rows}).transpose(1, 2);
  }
  const torch::Tensor inner = mapped(gate.inner, logits) * tensors.scale;
  return mapped(gate.outer, inner + tensors.start.view({rows, n}));
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

}  // namespace ballast
