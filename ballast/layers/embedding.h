#pragma once

#include <torch/nn/module.h>

#include "ballast/base/parameter.h"

namespace ballast {

/// A vector per id, times a fixed scale. The table may also serve as output projection.
class Embedding : public torch::nn::Module, public Described {
 public:
  /// `scale` is part of the architecture (sqrt(d) in the original Transformer).
  Embedding(int64_t vocabulary_size, int64_t d_model, Role role, double scale);

  /// ids [N] (int64) to [N, d].
  torch::Tensor forward(const torch::Tensor& ids) const;
  std::vector<ParameterSlot> describe() override;

  torch::Tensor weight;   ///< [V, d]
  double multiplier = 1;  ///< set by `parameterize`

 private:
  Role role_;
  double scale_;
};

}  // namespace ballast
