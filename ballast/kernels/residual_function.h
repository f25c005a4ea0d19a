#pragma once

#include "ballast/kernels/residual_norm.h"

namespace ballast {

/// `residual_norm` in one pass each way, float32 on the CPU. Without a branch: N_out(a * x).
torch::Tensor fused_residual(const ResidualInputs& inputs);

}  // namespace ballast
