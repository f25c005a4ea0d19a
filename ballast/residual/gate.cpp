#include "ballast/residual/gate.h"

#include <algorithm>
#include <numeric>

#include "ballast/kernels/norm.h"

namespace ballast {
namespace {

/// Of x [N, rows, n] between n lanes; [N, 1, n!] before permutations.
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
      return x.softmax(-1);
    case GateMap::doubly_stochastic:
      // A factor common to all elements changes nothing and keeps the largest at 1.
      return doubly_stochastic((x - x.amax({-2, -1}, true)).exp());
    case GateMap::permutations:
      return torch::matmul(x.softmax(-1), permutation_matrices(lanes).to(x.options()))
          .view({x.size(0), lanes, lanes});
  }
  return x;
}

}  // namespace

std::vector<int64_t> gate_shape(const Gate& gate, const Grid& start, int64_t lanes,
                                int64_t d_model) {
  if (gate.all_lanes) return {int64_t{start.rows()} * start.columns(), lanes * d_model};
  return {start.rows(), d_model};
}

StoredGate store_gate(torch::nn::Module& owner, const std::string& name,
                      const Coefficient& coefficient, int64_t lanes, int64_t d_model) {
  if (!coefficient.gate) return {};
  const Gate& gate = *coefficient.gate;
  StoredGate made{name + "_gate", name + "_gate_scale", {}, {}};
  made.weight = owner.register_parameter(
      made.weight_name, torch::zeros(gate_shape(gate, coefficient.start, lanes, d_model)));
  if (gate.scale != 0) {
    made.scale = owner.register_parameter(made.scale_name, torch::full({}, gate.scale));
  }
  return made;
}

std::vector<ParameterSlot> slots_of(const StoredGate& stored, const Coefficient& coefficient) {
  std::vector<ParameterSlot> slots;
  if (!stored.weight.defined()) return slots;
  const int64_t inputs = stored.weight.size(1);
  slots.push_back({.name = stored.weight_name,
                   .tensor = stored.weight,
                   .facts = {.role = Role::lane_gate, .fan_in = inputs, .decay = true}});
  if (!stored.scale.defined()) return slots;
  slots.push_back({.name = stored.scale_name,
                   .tensor = stored.scale,
                   .facts = {.role = Role::point_factor, .fan_in = inputs},
                   .start = coefficient.gate->scale});
  return slots;
}

torch::Tensor gated(const Gate& gate, const GateTensors& tensors,
                    const std::vector<torch::Tensor>& lanes, int64_t rows) {
  const auto n = static_cast<int64_t>(lanes.size());
  const int64_t count = lanes.front().size(0), d = lanes.front().size(1);
  const torch::Tensor start = tensors.start.view({rows, -1});
  const NormSpec spec{gate.center ? Statistic::layer : Statistic::rms, 1e-6,
                      EpsPlacement::inside_root};
  torch::Tensor logits;  // [N, rows, columns of the start]
  if (gate.all_lanes) {
    const torch::Tensor read = norm(torch::cat(lanes, 1), {}, {}, spec);
    logits = torch::mm(read, tensors.weight.t()).view({count, rows, -1});
  } else {
    const torch::Tensor read = norm(torch::stack(lanes, 1).reshape({count * n, d}), {}, {}, spec);
    logits = torch::mm(read, tensors.weight.t()).view({count, n, rows}).transpose(1, 2);
  }
  torch::Tensor inner = mapped(gate.inner, logits, n);
  if (tensors.scale.defined()) inner = inner * tensors.scale;
  return mapped(gate.outer, inner + start, n);
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

torch::Tensor permutation_matrices(int64_t lanes) {
  std::vector<int64_t> order(lanes);
  std::iota(order.begin(), order.end(), 0);
  std::vector<float> values;
  do {
    for (const int64_t read : order) {
      for (int64_t j = 0; j < lanes; ++j) values.push_back(read == j ? 1 : 0);
    }
  } while (std::ranges::next_permutation(order).found);
  return torch::tensor(values).view({-1, lanes * lanes});
}

}  // namespace ballast
