#include "ballast/layers/linear.h"

#include <algorithm>
#include <cmath>

namespace ballast {

Linear::Linear(const LinearShape& shape) : shape_(shape) {
  const int64_t rows = shape.stacked * shape.fan_out;
  weight = register_parameter("weight", torch::zeros({rows, shape.fan_in}));
  if (shape.bias) bias = register_parameter("bias", torch::zeros({rows}));
  const WeightForm& form = shape.form;
  if (form.scales_inputs) {
    input_scale = register_parameter("input_scale", torch::ones({shape.fan_in}));
  }
  if (form.gain != WeightGain::none) {
    weight_gain = register_parameter(
        "weight_gain", form.gain == WeightGain::rows ? torch::ones({rows}) : torch::ones({}));
  }
  if (form.divisor == WeightDivisor::spectral) {
    const auto unit = [](int64_t count) {
      return torch::full({count}, 1 / std::sqrt(static_cast<double>(count)));
    };
    left_vector = register_buffer("left_vector", unit(rows));
    right_vector = register_buffer("right_vector", unit(shape.fan_in));
  }
}

WeightTensors Linear::tensors() const {
  return {weight, input_scale, weight_gain, left_vector, right_vector};
}

/// One iteration for each set of values that a weight has in training, as the paper has it, so that
/// neither a recomputed block nor a second batch of the step makes another.
void Linear::follow_step() const {
  if (shape_.form.divisor != WeightDivisor::spectral || !is_training()) return;
  if (std::exchange(iterated_at_, context().step) != context().step) {
    iterate(shape_.form, tensors());
  }
}

torch::Tensor Linear::acting_weight() const {
  if (shape_.form.is_plain()) return weight;
  follow_step();
  const auto make = [&] { return acting(shape_.form, tensors()); };
  if (is_training() || torch::GradMode::is_enabled()) return make();
  return kept_.get({weight, input_scale, weight_gain, left_vector}, make);
}

LinearOptions Linear::options_for(const torch::Tensor& acting, const LinearInput& x,
                                  const LinearResult& result) const {
  LinearOptions options{multiplier, result.activation};
  if (context().precision == Precision::bf16) {
    options.bf16_weight = bf16_weight_.of(acting);
    options.bf16_x = x.bf16;
    options.result = result.type;
  }
  return options;
}

torch::Tensor Linear::forward(const LinearInput& x, LinearResult result) const {
  const torch::Tensor acting = acting_weight();
  return linear(x.rows, acting, bias, options_for(acting, x, result));
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
    weights.push_back(layer->acting_weight());
    options = layer->options_for(weights.back(), x, {});
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
                             .stacked = shape_.stacked,
                             .head_width = shape_.head_width,
                             .activation = shape_.activation};
  std::vector<ParameterSlot> slots{
      {.name = "weight", .tensor = weight, .facts = facts, .multiplier = &multiplier}};
  const ParameterFacts beside{.role = Role::weight_factor,
                              .fan_in = shape_.fan_in,
                              .fan_out = shape_.fan_out,
                              .stacked = shape_.stacked};
  if (input_scale.defined()) {
    slots.push_back({.name = "input_scale", .tensor = input_scale, .facts = beside, .start = 1});
  }
  if (weight_gain.defined()) {
    slots.push_back(
        {.name = "weight_gain",
         .tensor = weight_gain,
         .facts = beside,
         .start = 1,
         .derived = [form = shape_.form, all = tensors()] { return start_of_gain(form, all); }});
  }
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
