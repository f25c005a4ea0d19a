#pragma once

#include <memory>

#include "ballast/kernels/bf16.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/layers/embedding.h"

namespace ballast {

/// From rows [N, d] to logits [N, V], with a weight of its own or over an embedding's table.
///
/// Its factor at `logits` (table two's; 1 unless that says otherwise) is its own also where the
/// table is not: logits = factor * multiplier of the weight * h W^T + bias.
class OutputProjection : public torch::nn::Module, public Bound, public Described {
 public:
  /// A weight of its own, [V, d].
  OutputProjection(int64_t d_model, int64_t vocabulary_size, bool bias);
  /// Over the table of `tied`.
  OutputProjection(std::shared_ptr<Embedding> tied, bool bias);

  /// hidden [N, d] to [N, V].
  torch::Tensor logits(const torch::Tensor& hidden) const;

  /// What `cross_entropy` and its like need, so that logits are never held at once; targets int64
  /// [N].
  CrossEntropyInputs against(const torch::Tensor& hidden, const torch::Tensor& targets) const;

  /// Of h W^T: the factor times the multiplier of the weight.
  double acting_multiplier() const;

  const torch::Tensor& weight() const { return tied_ ? tied_->weight : own_weight_; }
  bool is_tied() const { return tied_ != nullptr; }

  std::vector<ParameterSlot> describe() override;
  std::vector<FactorSlot> factors() override;

  torch::Tensor bias;  ///< [V], undefined where there is none

 private:
  torch::Tensor bf16_weight() const;  // undefined where products are float32

  std::shared_ptr<Embedding> tied_;  // registered elsewhere
  torch::Tensor own_weight_;
  double own_multiplier_ = 1, factor_ = 1;
  mutable Bf16Copy bf16_weight_;
};

}  // namespace ballast
