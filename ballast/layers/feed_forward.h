#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "ballast/layers/branch.h"
#include "ballast/layers/dropout.h"
#include "ballast/layers/linear.h"
#include "ballast/layers/pointed.h"

namespace ballast {

struct FeedForwardOptions {
  int64_t d_model = 512, d_ff = 2048;
  Activation activation = {Elementwise::relu};
  bool bias = true;  ///< of both matrices
  WeightForm weights = {};
  double dropout = 0;      ///< after the activation
  Standing standing = {};  ///< at `gate` and `hidden`
};

/// W_out dropout(activation(W_in x)) on [N, d], both with a bias or none (Vaswani et al. 2017,
/// arXiv:1706.03762, section 3.3). For a gated pair W_in holds the gate's matrix above the other's,
/// [2 F, d].
class FeedForward : public Pointed, public Branch {
 public:
  explicit FeedForward(const FeedForwardOptions& options);

  /// Of x [N, d]; norms that read more than a row need the `sequences`.
  torch::Tensor forward(const torch::Tensor& x, const Segments* sequences = nullptr) const;
  torch::Tensor forward(const torch::Tensor& h, const Surroundings& around) const override {
    return forward(h, &around.segments);
  }
  torch::Tensor step(const torch::Tensor& h, BranchCache&, const Reading&) const override {
    return forward(h);
  }

  const Activation& activation() const { return activation_; }

  std::shared_ptr<Linear> in, out;

 private:
  torch::Tensor activated(const torch::Tensor& x, Precision type, const Segments* sequences) const;

  Activation activation_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace ballast
