#include "ballast/layers/output_projection.h"

#include <utility>

#include "ballast/kernels/linear.h"
#include "ballast/parameterization/standard_factor.h"

namespace ballast {

OutputProjection::OutputProjection(int64_t d_model, int64_t vocabulary_size, bool has_bias)
    : factor_(standard_factor({Point::logits, d_model})) {
  own_weight_ = register_parameter("weight", torch::zeros({vocabulary_size, d_model}));
  if (has_bias) bias = register_parameter("bias", torch::zeros({vocabulary_size}));
}

OutputProjection::OutputProjection(std::shared_ptr<Embedding> tied, bool has_bias)
    : tied_(std::move(tied)), factor_(standard_factor({Point::logits, tied_->weight.size(1)})) {
  if (has_bias) bias = register_parameter("bias", torch::zeros({tied_->weight.size(0)}));
}

torch::Tensor OutputProjection::logits(const torch::Tensor& hidden) const {
  return linear(hidden, weight(), bias,
                {.multiplier = acting_multiplier(), .bf16_weight = bf16_weight()});
}

CrossEntropyInputs OutputProjection::against(const torch::Tensor& hidden,
                                             const torch::Tensor& targets) const {
  return {hidden, weight(), bias, targets, acting_multiplier(), bf16_weight()};
}

double OutputProjection::acting_multiplier() const {
  return factor_ * (tied_ ? tied_->multiplier : own_multiplier_);
}

torch::Tensor OutputProjection::bf16_weight() const {
  if (context().precision == Precision::float32) return {};
  return bf16_weight_.of(weight());
}

std::vector<ParameterSlot> OutputProjection::describe() {
  const int64_t d = weight().size(1), ids = weight().size(0);
  std::vector<ParameterSlot> slots;
  if (own_weight_.defined()) {
    slots.push_back({.name = "weight",
                     .tensor = own_weight_,
                     .facts = {.role = Role::output, .fan_in = d, .fan_out = ids},
                     .multiplier = &own_multiplier_});
  }
  if (bias.defined()) {
    slots.push_back({.name = "bias",
                     .tensor = bias,
                     .facts = {.role = Role::bias, .fan_in = d, .fan_out = ids}});
  }
  return slots;
}

std::vector<FactorSlot> OutputProjection::factors() {
  return {{{Point::logits, weight().size(1)}, &factor_}};
}

}  // namespace ballast
