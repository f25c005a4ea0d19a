#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ballast/base/context.h"
#include "ballast/base/made_from.h"
#include "ballast/base/parameter.h"
#include "ballast/kernels/bf16.h"
#include "ballast/kernels/linear.h"
#include "ballast/layers/weight_form.h"

namespace ballast {

/// Facts of a linear layer's weight, and whether it has a bias.
struct LinearShape {
  int64_t fan_in = 1, fan_out = 1;
  Role role = Role::hidden;
  bool bias = true;
  int64_t stacked = 1;  ///< matrices of this shape in the one weight, below each other
  WeightForm form = {};
  int64_t head_width = 0;  ///< see `ParameterFacts`, as `activation`
  SecondMoments activation = {};
};

/// Rows [N, fan_in] that linear layers read. Layers that read the same rows share one bfloat16 copy
/// of them, and keep no other for the backward pass.
struct LinearInput {
  LinearInput(torch::Tensor rows, torch::Tensor bf16 = {})  // NOLINT: rows alone are an input too
      : rows(std::move(rows)), bf16(std::move(bf16)) {}

  /// With the copy that layers of this precision read.
  static LinearInput shared(const torch::Tensor& rows, Precision precision) {
    return {rows, precision == Precision::bf16 ? rounded(rows) : torch::Tensor()};
  }

  torch::Tensor rows;
  torch::Tensor bf16;  ///< undefined: each layer that needs one makes its own
};

/// What a linear layer makes of its product.
struct LinearResult {
  Activation activation = {};
  Precision type = Precision::float32;  ///< bf16, in a model of that precision: a bfloat16 tensor
};

/// y = activation(multiplier x W'^T + b) on [N, fan_in], where W' is what acts for the weight by
/// its form. y is [N, fan_out], or half as wide for a gated pair. Values are decided by
/// `initialize`; the context decides the precision of the product.
class Linear : public torch::nn::Module, public Bound, public Described {
 public:
  /// Zeros until initialised, but for the form's scale and gain, which are 1.
  explicit Linear(const LinearShape& shape);

  /// RecipeError for a gated pair with an odd number of rows in its weight.
  torch::Tensor forward(const LinearInput& x, LinearResult result = {}) const;
  std::vector<ParameterSlot> describe() override;

  /// W' [stacked fan_out, fan_in]: the weight itself where its form is plain. In evaluation without
  /// gradients it is made once and kept until what it is made of changes.
  torch::Tensor acting_weight() const;

  torch::Tensor weight;   ///< [stacked fan_out, fan_in]
  torch::Tensor bias;     ///< [stacked fan_out], undefined when the shape asks for none
  double multiplier = 1;  ///< set by `parameterize`
  torch::Tensor weight_gain, input_scale;   ///< of the form, undefined where it has none
  torch::Tensor left_vector, right_vector;  ///< of a spectral form

 private:
  friend torch::Tensor joined(const std::vector<std::shared_ptr<Linear>>& layers,
                              const LinearInput& x);

  LinearOptions options_for(const torch::Tensor& acting, const LinearInput& x,
                            const LinearResult& result) const;
  WeightTensors tensors() const;
  void follow_step() const;

  LinearShape shape_;
  mutable Bf16Copy bf16_weight_;
  mutable int64_t iterated_at_ = -1;  // step
  mutable MadeFrom kept_;
};

/// The results of several layers of the same rows beside each other, [N, sum of fan_out], from one
/// product of their weights below each other; its backward pass needs one product for the gradient
/// of the rows, and no sum. The layers are alike but for weight and bias; if their multipliers
/// differ, they are computed one by one.
torch::Tensor joined(const std::vector<std::shared_ptr<Linear>>& layers, const LinearInput& x);

}  // namespace ballast
