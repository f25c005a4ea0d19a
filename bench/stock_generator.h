#pragma once

#include <vector>

#include "ballast/model/transformer.h"
#include "bench/stock_transformer.h"

namespace ballast::bench {

/// Token by token from a Llama-shaped model (pre-norm, RMS norm, rotary positions, SwiGLU, as many
/// key as query heads), as one writes it with stock ATen operations: query, key and value from one
/// product, cosines and sines of all places from a table, keys and values in a cache that has room
/// for the longest text. It has the values of one of ours, in a type of its own.
class StockGenerator {
 public:
  StockGenerator(const Transformer& ours, int64_t longest, torch::ScalarType type);

  /// Forgets all tokens, and reads a prompt in one pass; logits [V] behind it.
  torch::Tensor read(const std::vector<int64_t>& prompt);

  /// One token more; logits [V] behind it.
  torch::Tensor step(int64_t token);

 private:
  struct Block {
    torch::Tensor attention_gain, feed_forward_gain;
    StockLinear joined, output, in, out;
    torch::Tensor keys, values;  // [H, longest, K]
  };

  torch::Tensor pass(const torch::Tensor& ids);
  torch::Tensor attended(Block& block, const torch::Tensor& x);
  torch::Tensor turned(const torch::Tensor& x) const;
  StockLinear own(const Linear& linear) const;

  torch::ScalarType type_;
  int64_t heads_, length_ = 0;
  double embedding_factor_, logit_factor_;
  torch::Tensor embedding_, output_, gain_, cosine_, sine_;
  std::vector<Block> blocks_;
};

}  // namespace ballast::bench
