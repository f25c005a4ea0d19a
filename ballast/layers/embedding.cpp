#include "ballast/layers/embedding.h"

namespace ballast {

Embedding::Embedding(int64_t vocabulary_size, int64_t d_model, Role role, double scale)
    : role_(role), scale_(scale) {
  weight = register_parameter("weight", torch::zeros({vocabulary_size, d_model}));
}

torch::Tensor Embedding::forward(const torch::Tensor& ids) const {
  const double factor = scale_ * multiplier;
  const torch::Tensor rows = torch::embedding(weight, ids);
  return factor == 1 ? rows : rows * factor;
}

std::vector<ParameterSlot> Embedding::describe() {
  return {{.name = "weight",
           .tensor = weight,
           .facts = {role_, weight.size(1), weight.size(0)},
           .multiplier = &multiplier}};
}

}  // namespace ballast
