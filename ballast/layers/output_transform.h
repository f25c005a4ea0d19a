#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "ballast/layers/linear.h"
#include "ballast/norm/norm.h"

namespace ballast {

struct OutputTransformOptions {
  int64_t d_model = 512;
  Activation activation = {Elementwise::gelu};
  NormForm norm = {};
  bool bias = true;
};

/// norm(activation(W h + b)) of rows [N, d], W [d, d]: what BERT puts before its output projection
/// (Devlin et al. 2018, arXiv:1810.04805, in the authors' code). A gated pair has W [2 d, d].
class OutputTransform : public torch::nn::Module {
 public:
  /// The norm has to be of single rows, for those that are predicted come alone.
  explicit OutputTransform(const OutputTransformOptions& options)
      : dense(register_module("dense", std::make_shared<Linear>(LinearShape{
                                           .fan_in = options.d_model,
                                           .fan_out = options.d_model,
                                           .role = Role::hidden,
                                           .bias = options.bias,
                                           .stacked = options.activation.arguments()}))),
        norm(register_module(
            "norm", std::make_shared<Norm>(options.norm, RowShape{.width = options.d_model}))),
        activation_(options.activation) {}

  torch::Tensor forward(const torch::Tensor& h) const {
    return norm->forward(dense->forward(h, {activation_}));
  }

  std::shared_ptr<Linear> dense;
  std::shared_ptr<Norm> norm;

 private:
  Activation activation_;
};

}  // namespace ballast
