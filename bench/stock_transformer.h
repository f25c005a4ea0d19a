#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "ballast/data/packed_batch.h"
#include "ballast/model/transformer.h"

namespace ballast::bench {

/// Sequences side by side, int64 [length, B], filled up with the pad id at the end.
struct Padded {
  torch::Tensor tokens;
  torch::Tensor is_pad;  ///< bool [B, length]
};

Padded padded(const Packed& packed, int64_t pad_id);

/// The sequences of a batch as stock libtorch wants them.
struct PaddedBatch {
  Padded source;  ///< undefined for a language model
  Padded target_input;
  torch::Tensor target_output;  ///< int64 [T, B]
};

PaddedBatch padded(const Batch& batch, int64_t pad_id);

/// An affine map as torch::nn::Linear has it.
struct StockLinear {
  torch::Tensor weight, bias;
  torch::Tensor operator()(const torch::Tensor& x) const { return torch::linear(x, weight, bias); }
};

struct StockNorm {
  torch::Tensor gain, bias;
  double eps = 1e-5;
  torch::Tensor operator()(const torch::Tensor& x) const {
    return torch::layer_norm(x, {gain.size(0)}, gain, bias, eps);
  }
};

/// Multi-head attention as torch::nn::MultiheadAttention computes it: query, key and value from one
/// packed projection, batched products of all heads with the mask added in the first.
struct StockAttention {
  StockLinear in;  ///< weight [3 D, D]
  StockLinear out;
  int64_t heads = 1;

  torch::Tensor to_self(const torch::Tensor& x, const torch::Tensor& mask) const;
  torch::Tensor to_memory(const torch::Tensor& x, const torch::Tensor& memory,
                          const torch::Tensor& mask) const;

  /// q, k, v [length, B, D]; mask broadcasts to [B H, T, S].
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const torch::Tensor& mask) const;
};

struct StockBlock {
  StockAttention self_attention, cross_attention;
  StockLinear feed_forward_in, feed_forward_out;
  StockNorm self_attention_norm, cross_attention_norm, feed_forward_norm;
};

/// What stock libtorch computes beside ours: a module with a loss, and parameters with values of
/// ours.
class StockModel : public torch::nn::Module {
 public:
  /// Mean loss per target token that is no pad.
  virtual torch::Tensor loss(const PaddedBatch& batch, int64_t pad_id,
                             double label_smoothing) const = 0;

 protected:
  torch::Tensor own(const torch::Tensor& value);
};

/// A post-norm Transformer of stock ATen operations on padded batches, [length, B, D] as
/// torch::nn::Transformer has it. It starts from the values of one of ours and computes the same.
class StockTransformer : public StockModel {
 public:
  StockTransformer(const Transformer& ours, int64_t pad_id);

  torch::Tensor loss(const PaddedBatch& batch, int64_t pad_id,
                     double label_smoothing) const override;

  /// Encoder output [S, B, D].
  torch::Tensor encode(const Padded& source) const;

  torch::Tensor embedded(const torch::Tensor& tokens, int64_t first_place) const;
  torch::Tensor logits(const torch::Tensor& hidden) const;

  std::vector<StockBlock> encoder, decoder;

 private:
  using StockModel::own;
  StockLinear own(const Linear& linear);
  StockNorm own(const Norm& norm);
  StockAttention own(const Attention& attention, int64_t heads);
  std::vector<StockBlock> own(const BlockStack& stack, int64_t heads);
  torch::Tensor decode(const torch::Tensor& tokens, const torch::Tensor& memory,
                       const torch::Tensor& memory_mask) const;
  torch::Tensor dropped(const torch::Tensor& x) const;
  torch::Tensor fed_forward(const StockBlock& block, const torch::Tensor& x) const;

  int64_t pad_id_;
  double dropout_, embedding_scale_;
  torch::Tensor embedding_, positions_;
};

/// Additive mask [B H, 1, S] that hides pads from all queries.
torch::Tensor padding_mask(const torch::Tensor& is_pad, int64_t heads);

}  // namespace ballast::bench
