#pragma once

#include <torch/nn/module.h>

#include <optional>

#include "ballast/base/parameter.h"
#include "ballast/kernels/linear.h"

namespace ballast {

/// Facts of a linear layer's weight, and whether it has a bias.
struct LinearShape {
  int64_t fan_in = 1, fan_out = 1;
  Role role = Role::hidden;
  std::optional<ResidualSite> site = std::nullopt;
  bool bias = true;
};

/// y = activation(multiplier x W^T + b) on [N, fan_in]. Values are decided by `initialize`.
class Linear : public torch::nn::Module, public Described {
 public:
  explicit Linear(const LinearShape& shape);

  torch::Tensor forward(const torch::Tensor& x, Activation activation = Activation::identity) const;
  std::vector<ParameterSlot> describe() override;

  torch::Tensor weight;   ///< [fan_out, fan_in]
  torch::Tensor bias;     ///< [fan_out], undefined when the shape asks for none
  double multiplier = 1;  ///< set by `parameterize`

 private:
  LinearShape shape_;
};

}  // namespace ballast
