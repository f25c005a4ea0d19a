#pragma once

#include <vector>

#include "bench/stock_transformer.h"

namespace ballast::bench {

/// A Llama-shaped language model (pre-norm, RMS norm, rotary positions, SwiGLU, as many key as
/// query heads, an output table of its own) of stock ATen operations on padded batches [B, T, D]:
/// query, key and value from one product, cosines and sines from a table. It starts from the values
/// of one of ours and computes the same.
class StockLlama : public StockModel {
 public:
  explicit StockLlama(const Transformer& ours);

  torch::Tensor loss(const PaddedBatch& batch, int64_t pad_id,
                     double label_smoothing) const override;

 private:
  struct Block {
    torch::Tensor attention_gain, feed_forward_gain;
    StockLinear joined, output, in, out;
  };

  StockLinear own(const std::vector<const Linear*>& linears);
  torch::Tensor attended(const Block& block, const torch::Tensor& x) const;
  torch::Tensor turned(const torch::Tensor& x) const;

  int64_t heads_;
  double eps_;
  torch::Tensor embedding_, output_, gain_, cosine_, sine_;
  std::vector<Block> blocks_;
};

}  // namespace ballast::bench
