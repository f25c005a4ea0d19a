#pragma once

#include <torch/types.h>

#include <vector>

#include "ballast/base/coefficient.h"

namespace ballast {

/// What a grid given as one number stands for: that number for each lane and itself, for every
/// lane, or for lane 0 with 0 for the others.
enum class Spread { diagonal, every_lane, first_lane };

/// The grid itself, or the one that its number stands for among `lanes`: [n, n] for a diagonal,
/// else [1, n].
Grid spread(const Grid& grid, int lanes, Spread how);

/// sum_j weight_ij lane_j for each row i of the weights, undefined where all of a row are 0.
/// Numbers cost nothing where they are 0 or 1; with a single 1 in its row the result is the lane's
/// own tensor. Weights [m, n], lanes n tensors of one shape.
std::vector<torch::Tensor> mixed(const Grid& weights, const std::vector<torch::Tensor>& lanes);

/// The same with trained weights [m, n] or [n] (one row), as one product; every row is defined.
std::vector<torch::Tensor> mixed(const torch::Tensor& weights,
                                 const std::vector<torch::Tensor>& lanes);

}  // namespace ballast
