#pragma once

#include <torch/nn/module.h>

#include <optional>

#include "ballast/base/context.h"
#include "ballast/base/parameter.h"

namespace ballast {

/// A vector per id. The table may also serve as output projection, see `OutputProjection`.
class Embedding : public torch::nn::Module, public Bound, public Described {
 public:
  /// `role` is that of the table: `source_embedding` or `target_embedding`. Zeros until
  /// initialised.
  Embedding(int64_t vocabulary_size, int64_t d_model, Role role,
            std::optional<double> fixed_factor = {});

  /// ids [N] (int64) in [0, V) to [N, d]: multiplier * factor * weight[id], with the fixed factor
  /// or else table two's at `token`: sqrt(d) unless it says otherwise. Observers see what leaves
  /// that point.
  torch::Tensor forward(const torch::Tensor& ids) const;
  double factor() const { return scale_ * multiplier; }  ///< of the rows of the table
  std::vector<ParameterSlot> describe() override;
  std::vector<FactorSlot> factors() override;  ///< none where the factor is fixed

  torch::Tensor weight;   ///< [V, d]
  double multiplier = 1;  ///< set by `parameterize`

 private:
  Role role_;
  bool is_fixed_;
  double scale_;
};

}  // namespace ballast
