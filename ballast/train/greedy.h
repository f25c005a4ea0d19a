#pragma once

#include "ballast/kernels/cross_entropy.h"

namespace ballast {

/// Whether each target is the most probable class of its row, bool [N] on the CPU; logits are held
/// for a few rows at once. A soft cap changes no order, so it is left out.
torch::Tensor greedy_hits(const CrossEntropyInputs& inputs);

}  // namespace ballast
