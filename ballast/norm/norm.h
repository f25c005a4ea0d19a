#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "ballast/base/parameter.h"
#include "ballast/base/segments.h"
#include "ballast/kernels/residual_norm.h"
#include "ballast/norm/kinds.h"

namespace ballast {

/// A normalisation of rows [N, d], with its gain, its bias, and the statistics that it keeps.
class Norm : public torch::nn::Module, public Described {
 public:
  /// RecipeError when the groups do not divide the features.
  Norm(const NormForm& form, const RowShape& shape);

  /// x [N, d] to [N, d]. `sequences` says which rows belong together; only norms over sequences
  /// read it, and throw std::logic_error without it, where its tokens are not the rows of x, or
  /// where it leaves gaps. DataError when a norm with running statistics is trained on a batch of
  /// one value a group.
  ///
  /// Running statistics learn where gradients are recorded, in training: so neither a calibration
  /// teaches them, nor the first of two runs of a recomputed block.
  torch::Tensor forward(const torch::Tensor& x, const Segments* sequences = nullptr) const;

  /// Whether it is one division of single rows, which a kernel may fuse into something else.
  bool is_one_division() const {
    return form_.is_row_wise() && groups_ == 1 && form_.function == Pointwise::none;
  }

  /// Gain, bias and rule for such a kernel. Only where `is_one_division`.
  NormParameters kernel_parameters() const;

  const NormForm& form() const { return form_; }

  /// Gain, alpha: `Role::norm_gain`; bias, shift: `Role::norm_bias`; each with its start.
  std::vector<ParameterSlot> describe() override;

  torch::Tensor gain;   ///< by its extent [], [d / groups] or [d]; undefined where there is none
  torch::Tensor bias;   ///< [d], starts at 0; undefined where the form has none
  torch::Tensor alpha;  ///< [], of a function
  torch::Tensor shift;  ///< [], of a function, starts at 0

  /// [groups], undefined where there are none: r = (1 - running_share) r + running_share * batch
  /// from 0 and 1. Of second moments around the mean, the unbiased, as PyTorch.
  torch::Tensor running_mean, running_second;

 private:
  NormSpec spec() const;
  torch::Tensor acting_gain() const;
  torch::Tensor divided(const torch::Tensor& x, const Segments* sequences) const;
  void learn(const torch::Tensor& mean, const torch::Tensor& second, int64_t values) const;

  NormForm form_;
  int64_t width_, groups_;
  double scale_ = 1;
};

}  // namespace ballast
