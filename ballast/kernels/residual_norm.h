#pragma once

#include <torch/types.h>

#include <optional>

#include "ballast/kernels/dropout.h"
#include "ballast/kernels/norm.h"

namespace ballast {

/// A factor of the residual form: a trained scalar [] or vector [d], else a plain number.
struct Factor {
  double constant = 1;
  torch::Tensor trained = {};
};

/// A norm with its parameters.
struct NormParameters {
  torch::Tensor gain = {}, bias = {};  ///< [d] or undefined
  NormSpec spec = {};
};

/// What one residual connection joins: N_out(a * x + b * N_mid(dropout(f))).
struct ResidualInputs {
  torch::Tensor shortcut;       ///< x [N, d]
  torch::Tensor branch = {};    ///< f [N, d]
  Factor shortcut_factor = {};  ///< a
  Factor branch_factor = {};    ///< b
  DropMask dropout = {};
  std::optional<NormParameters> norm_mid = {}, norm_out = {};
};

/// Joins shortcut and branch, see `ResidualInputs`; returns [N, d].
///
/// With b = 0 (ReZero at its start) the shortcut comes back exactly.
torch::Tensor residual_norm(const ResidualInputs& inputs);

/// The ATen version, for any device and derivative.
torch::Tensor residual_norm_reference(const ResidualInputs& inputs);

}  // namespace ballast
