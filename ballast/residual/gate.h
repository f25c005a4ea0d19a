#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ballast/base/parameter.h"

namespace ballast {

/// The shape of a gate's matrix for coefficients that begin at `start`, between n lanes [N, d]: it
/// reads all lanes and brings out all numbers, [rows columns, n d], or reads one lane j and brings
/// out column j, [rows, d].
std::vector<int64_t> gate_shape(const Gate& gate, const Grid& start, int64_t lanes,
                                int64_t d_model);

/// What a module stores for a gate, and under which names.
struct StoredGate {
  std::string weight_name, scale_name;
  torch::Tensor weight;  ///< see `gate_shape`; undefined where there is no gate
  torch::Tensor scale;   ///< []; undefined where W acts as it is
};

/// Registers in `owner` what the gate of a coefficient `name` needs: `name`_gate, from 0, and
/// `name`_gate_scale. Nothing where the coefficient has none.
StoredGate store_gate(torch::nn::Module& owner, const std::string& name,
                      const Coefficient& coefficient, int64_t lanes, int64_t d_model);

/// The parameters that `store_gate` registered.
std::vector<ParameterSlot> slots_of(const StoredGate& stored, const Coefficient& coefficient);

/// What a gate reads.
struct GateTensors {
  torch::Tensor weight;  ///< see `gate_shape`
  torch::Tensor scale;   ///< [], or undefined
  torch::Tensor start;   ///< [rows, n], or [n] of one row; [n!] before permutations
};

/// A coefficient of every row of the stream, see `Gate`: [N, rows, n] between n lanes [N, d]. The
/// norm adds eps 1e-6 inside the root. Dynamic Hyper-Connections (arXiv:2409.19606) with inner
/// tanh, mHC (arXiv:2512.24880) with all lanes.
torch::Tensor gated(const Gate& gate, const GateTensors& tensors,
                    const std::vector<torch::Tensor>& lanes, int64_t rows);

/// sum_j weight_nij lane_j of every row n and each i, as tensors [N, d]; weights [N, rows, n],
/// lanes [N, d], n of them.
std::vector<torch::Tensor> mixed_by_row(const torch::Tensor& weights,
                                        const std::vector<torch::Tensor>& lanes);

/// Positive matrices [..., n, n] on the way to row and column sums of 1: `rounds` times columns,
/// then rows divided by their sums (Sinkhorn and Knopp 1967; arXiv:2512.24880). Rows then sum to 1
/// but for rounding, columns as nearly as the rounds have brought them.
torch::Tensor doubly_stochastic(const torch::Tensor& positive, int rounds = 20);

/// The n! matrices that permute n lanes, each as a row [n * n]; the first changes nothing.
torch::Tensor permutation_matrices(int64_t lanes);

}  // namespace ballast
