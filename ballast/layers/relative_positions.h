#pragma once

#include <torch/nn/module.h>

#include <span>
#include <vector>

#include "ballast/base/parameter.h"
#include "ballast/base/segments.h"
#include "ballast/kernels/attention.h"
#include "ballast/layers/position_kinds.h"

namespace ballast {

/// Where the next token behind so many stands, int64 [B]; a single place where it is the same for
/// all, and 0 where there are none.
torch::Tensor next_places(std::span<const int64_t> tokens);

/// Place of each token in its sequence, int64 [N].
torch::Tensor places_of(const Segments& segments, torch::Device device);

/// What self-attention reads of places in one pass, the same in every layer of a stack. Empty where
/// it knows none.
struct RelativePlaces {
  /// Of the angles by which each pair of features is turned, [N, 1, K/2], or one row for all.
  torch::Tensor cosine, sine;
  PairLayout layout = PairLayout::halves;
  /// Added to the logits, by distance: [H, 2 R + 1] (`AttentionInputs::relative_bias`), or [H, T]
  /// (`GatheredInputs::bias`).
  torch::Tensor bias;
};

/// Queries or keys x [N, H K], turned by their places; x where nothing is turned. A pair (a, b) of
/// a head's features becomes (a cos - b sin, b cos + a sin) of its angle place * base^(-2 i / K)
/// (Su et al. 2021, arXiv:2104.09864).
Columns turned(const Columns& x, const RelativePlaces& places);

/// What the self-attentions of one stack know of places, as far as a form has them know any.
class RelativePositions : public torch::nn::Module, public Described {
 public:
  /// `causal`: no key comes after its query, so that all buckets serve those before it.
  /// RecipeError when heads of an odd width would have to be turned.
  RelativePositions(const PositionForm& form, int64_t heads, int64_t d_head, bool causal);

  /// Of whole sequences, for rows such as `like`; the bias reaches as far as the longest of them.
  RelativePlaces of(const Segments& segments, const torch::TensorOptions& like) const;

  /// Of one query for each of several hypotheses, which stands where the last of its keys does; of
  /// these there are so many.
  RelativePlaces of_last(std::span<const int64_t> keys, const torch::TensorOptions& like) const;

  std::vector<ParameterSlot> describe() override;

  torch::Tensor table;  ///< [H, buckets], starts at 0; undefined without buckets

 private:
  RelativePlaces made(const torch::Tensor& places, const torch::Tensor& distances,
                      const torch::TensorOptions& like) const;
  torch::Tensor bias_at(const torch::Tensor& distances, torch::Device device) const;
  torch::Tensor bucket_of(const torch::Tensor& distances) const;

  PositionForm form_;
  int64_t d_head_;
  bool causal_;
  torch::Tensor slopes_;  // [H]
};

/// ALiBi's slopes of H heads: 2^(-8 h / H), h from 1, for a power of two; for other numbers those
/// of the power of two below, and every second one of the next (Press et al. 2022,
/// arXiv:2108.12409, and the authors' code).
std::vector<double> alibi_slopes(int64_t heads);

}  // namespace ballast
