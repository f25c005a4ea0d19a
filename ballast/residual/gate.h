#pragma once

#include <torch/types.h>

#include <vector>

#include "ballast/base/coefficient.h"

namespace ballast {

/// The numbers that a gate brings out for coefficients [rows, columns] between lanes: as many, or
/// one for each permutation of the lanes.
int64_t gate_outputs(const Gate& gate, int64_t rows, int64_t columns);

/// Columns of a gate's matrix: features of a lane, or of all.
int64_t gate_inputs(const Gate& gate, int64_t lanes, int64_t d_model);

/// A coefficient of every row of the stream, see `Gate`: [N, rows, n] between n lanes [N, d].
///
/// weight [outputs, inputs], scale []; start [outputs] or [rows, n].
struct GateTensors {
  torch::Tensor weight, scale, start;
};
torch::Tensor gated(const Gate& gate, const GateTensors& tensors,
                    const std::vector<torch::Tensor>& lanes, int64_t rows);

/// sum_j weight_nij lane_j of every row n and each i, as tensors [N, d].
std::vector<torch::Tensor> mixed_by_row(const torch::Tensor& weights,
                                        const std::vector<torch::Tensor>& lanes);

/// Positive matrices [..., n, n] on the way to row and column sums of 1: `rounds` times columns,
/// then rows divided by their sums (Sinkhorn and Knopp 1967; arXiv:2512.24880, equation 9).
torch::Tensor doubly_stochastic(const torch::Tensor& positive, int rounds = 20);

/// All permutation matrices of n lanes, [n!, n, n], the identity first.
torch::Tensor permutation_matrices(int64_t n);

}  // namespace ballast
