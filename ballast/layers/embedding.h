#pragma once

#include <torch/nn/module.h>

#include "ballast/base/context.h"
#include "ballast/base/parameter.h"

namespace ballast {

/// A vector per id. The table may also serve as output projection, see `OutputProjection`.
class Embedding : public torch::nn::Module, public Bound, public Described {
 public:
  Embedding(int64_t vocabulary_size, int64_t d_model, Role role);

  /// ids [N] (int64) to [N, d], times table two's factor at `token`: sqrt(d) unless it says
  /// otherwise.
  torch::Tensor forward(const torch::Tensor& ids) const;
  std::vector<ParameterSlot> describe() override;
  std::vector<FactorSlot> factors() override;

  torch::Tensor weight;   ///< [V, d]
  double multiplier = 1;  ///< set by `parameterize`

 private:
  Role role_;
  double scale_;
};

}  // namespace ballast
