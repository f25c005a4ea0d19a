#pragma once

#include <torch/types.h>

#include "ballast/loops/norm_spec.h"

namespace ballast {

/// What is divided by where the second moment (around the mean, where that is taken away) is
/// `mean_square`, of any shape; never 0.
torch::Tensor norm_divisor(const torch::Tensor& mean_square, const NormSpec& spec);

/// gain * normalised(x) + bias over the last dimension, statistics in float32 or better.
///
/// `layer`: (x - mean) / root of the population variance; `rms`: x / root of the mean square.
/// x [N, d]; gain and bias [d] or undefined. Exact for rows with a large common offset.
torch::Tensor norm(const torch::Tensor& x, const torch::Tensor& gain, const torch::Tensor& bias,
                   const NormSpec& spec);

/// The ATen version, for any device and derivative.
torch::Tensor norm_reference(const torch::Tensor& x, const torch::Tensor& gain,
                             const torch::Tensor& bias, const NormSpec& spec);

}  // namespace ballast
