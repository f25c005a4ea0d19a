#include "ballast/norm/norm.h"

namespace ballast {

Norm::Norm(const NormChoice& choice, int64_t d_model)
    : spec_(std::visit([](const auto& options) { return options.spec(); }, choice)) {
  gain = register_parameter("gain", torch::ones({d_model}));
  const bool has_bias = std::visit([](const auto& options) { return options.has_bias(); }, choice);
  if (has_bias) bias = register_parameter("bias", torch::zeros({d_model}));
}

torch::Tensor Norm::forward(const torch::Tensor& x) const { return norm(x, gain, bias, spec_); }

std::vector<ParameterSlot> Norm::describe() {
  std::vector<ParameterSlot> slots{{.name = "gain",
                                    .tensor = gain,
                                    .facts = {.role = Role::norm_gain, .fan_in = gain.size(0)},
                                    .start = 1}};
  if (bias.defined()) {
    slots.push_back({.name = "bias",
                     .tensor = bias,
                     .facts = {.role = Role::norm_bias, .fan_in = bias.size(0)}});
  }
  return slots;
}

}  // namespace ballast
