#include "ballast/layers/linear.h"

#include <algorithm>

namespace ballast {

Linear::Linear(const LinearShape& shape) : shape_(shape) {
  const int64_t rows = shape.stacked * shape.fan_out;
  weight = register_parameter("weight", torch::zeros({rows, shape.fan_in}));
  if (shape.bias) bias = register_parameter("bias", torch::zeros({rows}));
}

LinearOptions Linear::options_for(const LinearInput& x, const LinearResult& result) const {
  LinearOptions options{multiplier, result.activation};
  if (context().precision == Precision::bf16) {
    options.bf16_weight = bf16_weight_.of(weight);
    options.bf16_x = x.bf16;
    options.result = result.type;
  }
  return options;
}

torch::Tensor Linear::forward(const LinearInput& x, LinearResult result) const {
  return linear(x.rows, weight, bias, options_for(x, result));
}

torch::Tensor joined(const std::vector<std::shared_ptr<Linear>>& layers, const LinearInput& x) {
  const Linear& first = *layers.front();
  const bool alike = std::all_of(layers.begin(), layers.end(), [&](const auto& layer) {
    return layer->multiplier == first.multiplier;
  });
  if (!alike) {
    std::vector<torch::Tensor> results;
    for (const auto& layer : layers) results.push_back(layer->forward(x));
    return torch::cat(results, 1);
  }
  std::vector<torch::Tensor> weights, biases, bf16_weights;
  LinearOptions options;
  for (const auto& layer : layers) {
    options = layer->options_for(x, {});
    weights.push_back(layer->weight);
    biases.push_back(layer->bias);
    bf16_weights.push_back(options.bf16_weight);
  }
  if (options.bf16_weight.defined()) options.bf16_weight = torch::cat(bf16_weights);
  return linear(x.rows, torch::cat(weights), first.bias.defined() ? torch::cat(biases) : first.bias,
                options);
}

std::vector<ParameterSlot> Linear::describe() {
  const ParameterFacts facts{.role = shape_.role,
                             .fan_in = shape_.fan_in,
                             .fan_out = shape_.fan_out,
                             .stacked = shape_.stacked};
  std::vector<ParameterSlot> slots{
      {.name = "weight", .tensor = weight, .facts = facts, .multiplier = &multiplier}};
  if (bias.defined()) {
    slots.push_back({.name = "bias",
                     .tensor = bias,
                     .facts = {.role = Role::bias,
                               .fan_in = shape_.fan_in,
                               .fan_out = shape_.fan_out,
                               .stacked = shape_.stacked}});
  }
  return slots;
}

}  // namespace ballast
