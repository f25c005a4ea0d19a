#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "ballast/base/parameter.h"
#include "ballast/base/segments.h"
#include "ballast/kernels/attention.h"
#include "ballast/layers/position_kinds.h"

namespace ballast {

/// Place of each token in its sequence, int64 [N].
torch::Tensor places_of(const Segments& segments, torch::Device device);

/// What the self-attentions of one stack know of places, as far as a form has them know any.
class RelativePositions : public torch::nn::Module, public Described {
 public:
  /// `causal`: no key comes after its query, so that all buckets serve those before it.
  /// RecipeError when heads of an odd width would have to be turned.
  RelativePositions(const PositionForm& form, int64_t heads, int64_t d_head, bool causal);

  /// Queries or keys x [N, heads d_head], turned by their places [N]; x where nothing is turned.
  Columns turned(const Columns& x, const torch::Tensor& places) const;
  bool turns() const { return form_.rotary_base > 0; }

  /// For `AttentionInputs::relative_bias`: [H, 2 R + 1] with R = longest - 1; undefined without.
  torch::Tensor bias(int64_t longest) const;

  /// For `GatheredInputs::bias`: [H, T] of T keys, the last of which stands where the query does.
  torch::Tensor bias_of_last(int64_t keys) const;

  std::vector<ParameterSlot> describe() override;

  torch::Tensor table;  ///< [H, buckets], starts at 0; undefined without buckets

 private:
  torch::Tensor bias_at(const torch::Tensor& distances) const;
  torch::Tensor bucket_of(const torch::Tensor& distances) const;

  PositionForm form_;
  int64_t heads_, d_head_;
  bool causal_;
  torch::Tensor slopes_;  // [H]
};

/// ALiBi's slopes of H heads: 2^(-8 h / H), h from 1, for a power of two; for other numbers those
/// of the power of two below, and every second one of the next.
std::vector<double> alibi_slopes(int64_t heads);

}  // namespace ballast
