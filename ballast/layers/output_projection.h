#pragma once

#include <memory>

#include "ballast/kernels/bf16.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/layers/embedding.h"
#include "ballast/layers/output_transform.h"

namespace ballast {

/// What an output projection has besides its weight.
struct OutputForm {
  bool bias = false;
  double soft_cap = 0;                                   ///< see `CrossEntropyInputs`; 0: none
  std::optional<OutputTransformOptions> transform = {};  ///< of the rows, before the product
};

/// From rows [N, d] to logits [N, V], with a weight of its own or over an embedding's table.
///
/// Its factor at `logits` (table two's; 1 unless that says otherwise) is its own also where the
/// table is not: logits = factor * multiplier of the weight * h W^T + bias, with h as the transform
/// leaves it, and soft-capped last.
class OutputProjection : public torch::nn::Module, public Bound, public Described {
 public:
  /// A weight of its own, [V, d].
  OutputProjection(int64_t d_model, int64_t vocabulary_size, const OutputForm& form = {});
  /// Over the table of `tied`.
  explicit OutputProjection(std::shared_ptr<Embedding> tied, const OutputForm& form = {});

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

  torch::Tensor bias;                          ///< [V], undefined where there is none
  std::shared_ptr<OutputTransform> transform;  ///< null where there is none

 private:
  void add(const OutputForm& form);
  torch::Tensor read(const torch::Tensor& hidden) const;
  torch::Tensor bf16_weight() const;  // undefined where products are float32

  std::shared_ptr<Embedding> tied_;  // registered elsewhere
  torch::Tensor own_weight_;
  double own_multiplier_ = 1, factor_ = 1, soft_cap_ = 0;
  mutable Bf16Copy bf16_weight_;
};

}  // namespace ballast
