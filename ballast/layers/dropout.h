#pragma once

#include <torch/nn/module.h>

#include "ballast/base/context.h"
#include "ballast/kernels/dropout.h"

namespace ballast {

/// Inverted dropout (Srivastava et al. 2014) of rows [N, d] whose mask is a function of (seed,
/// step, batch, path); nothing in evaluation mode.
class Dropout : public torch::nn::Module, public Bound {
 public:
  /// p, the probability of removal, in [0, 1); 0 turns it off.
  explicit Dropout(double p) : p_(p) {}

  torch::Tensor forward(const torch::Tensor& x) const { return dropout(x, mask()); }

  /// This step's mask, for a kernel that applies it itself; inactive in evaluation mode.
  DropMask mask() const { return is_training() ? DropMask{p_, random_key("dropout")} : DropMask{}; }

 private:
  double p_;
};

}  // namespace ballast
