#include "ballast/layers/embedding.h"

#include "ballast/parameterization/standard_factor.h"

namespace ballast {

Embedding::Embedding(int64_t vocabulary_size, int64_t d_model, Role role,
                     std::optional<double> fixed_factor)
    : role_(role),
      is_fixed_(fixed_factor.has_value()),
      scale_(fixed_factor.value_or(standard_factor({Point::token, d_model}))) {
  weight = register_parameter("weight", torch::zeros({vocabulary_size, d_model}));
}

torch::Tensor Embedding::forward(const torch::Tensor& ids) const {
  const torch::Tensor rows = torch::embedding(weight, ids);
  return shown(Point::token, factor() == 1 ? rows : rows * factor());
}

std::vector<ParameterSlot> Embedding::describe() {
  return {{.name = "weight",
           .tensor = weight,
           .facts = {.role = role_, .fan_in = weight.size(1), .fan_out = weight.size(0)},
           .multiplier = &multiplier}};
}

std::vector<FactorSlot> Embedding::factors() {
  if (is_fixed_) return {};
  return {{{Point::token, weight.size(1)}, &scale_}};
}

}  // namespace ballast
