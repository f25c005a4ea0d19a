#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "ballast/layers/dropout.h"
#include "ballast/layers/linear.h"

namespace ballast {

struct FeedForwardOptions {
  int64_t d_model = 512, d_ff = 2048;
  Activation activation = Activation::relu;
  double dropout = 0;  ///< after the activation
  ResidualSite site;
};

/// W_out dropout(activation(W_in x)) on [N, d]. For a gated pair W_in holds the gate's matrix above
/// the other's.
class FeedForward : public torch::nn::Module {
 public:
  explicit FeedForward(const FeedForwardOptions& options);

  torch::Tensor forward(const torch::Tensor& x) const;

  std::shared_ptr<Linear> in, out;

 private:
  Activation activation_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace ballast
