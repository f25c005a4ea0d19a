#include "ballast/layers/linear.h"

namespace ballast {

Linear::Linear(const LinearShape& shape) : shape_(shape) {
  const int64_t rows = shape.stacked * shape.fan_out;
  weight = register_parameter("weight", torch::zeros({rows, shape.fan_in}));
  if (shape.bias) bias = register_parameter("bias", torch::zeros({rows}));
}

torch::Tensor Linear::forward(const LinearInput& x, LinearResult result) const {
  LinearOptions options{multiplier, result.activation};
  if (context().precision == Precision::bf16) {
    options.bf16_weight = bf16_weight_.of(weight);
    options.bf16_x = x.bf16;
    options.result = result.type;
  }
  return linear(x.rows, weight, bias, options);
}

std::vector<ParameterSlot> Linear::describe() {
  const ParameterFacts facts{shape_.role, shape_.fan_in, shape_.fan_out, shape_.site};
  std::vector<ParameterSlot> slots{
      {.name = "weight", .tensor = weight, .facts = facts, .multiplier = &multiplier}};
  if (bias.defined()) {
    slots.push_back({.name = "bias",
                     .tensor = bias,
                     .facts = {Role::bias, shape_.fan_in, shape_.fan_out, shape_.site}});
  }
  return slots;
}

}  // namespace ballast
