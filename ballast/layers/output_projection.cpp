#include "ballast/layers/output_projection.h"

#include <utility>

#include "ballast/kernels/linear.h"
#include "ballast/kernels/soft_cap.h"
#include "ballast/parameterization/standard_factor.h"

namespace ballast {

OutputProjection::OutputProjection(int64_t d_model, int64_t vocabulary_size, const OutputForm& form)
    : factor_(standard_factor({Point::logits, d_model})) {
  own_weight_ = register_parameter("weight", torch::zeros({vocabulary_size, d_model}));
  add(form);
}

OutputProjection::OutputProjection(std::shared_ptr<Embedding> tied, const OutputForm& form)
    : tied_(std::move(tied)), factor_(standard_factor({Point::logits, tied_->weight.size(1)})) {
  add(form);
}

void OutputProjection::add(const OutputForm& form) {
  soft_cap_ = form.soft_cap;
  if (form.bias) bias = register_parameter("bias", torch::zeros({weight().size(0)}));
  if (!form.transform) return;
  transform = register_module("transform", std::make_shared<OutputTransform>(*form.transform));
}

torch::Tensor OutputProjection::read(const torch::Tensor& hidden) const {
  return transform ? transform->forward(hidden) : hidden;
}

torch::Tensor OutputProjection::logits(const torch::Tensor& hidden) const {
  const torch::Tensor product =
      linear(read(hidden), weight(), bias,
             {.multiplier = acting_multiplier(), .bf16_weight = bf16_weight()});
  return soft_capped(product, soft_cap_);
}

CrossEntropyInputs OutputProjection::against(const torch::Tensor& hidden,
                                             const torch::Tensor& targets) const {
  return {read(hidden), weight(), bias, targets, acting_multiplier(), bf16_weight(), soft_cap_};
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
