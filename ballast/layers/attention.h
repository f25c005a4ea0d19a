#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "ballast/kernels/attention.h"
#include "ballast/layers/dropout.h"
#include "ballast/layers/key_value_cache.h"
#include "ballast/layers/linear.h"

namespace ballast {

struct AttentionLayerOptions {
  int64_t d_model = 512;
  int64_t heads = 8;
  double dropout = 0;  ///< of the probabilities
  bool causal = false;
  ResidualSite site;
};

/// Multi-head attention on packed rows: W_o attention(W_q x, W_k m, W_v m), logits over sqrt(K).
class Attention : public torch::nn::Module {
 public:
  explicit Attention(const AttentionLayerOptions& options);

  /// Self-attention within each of the `segments` of x [N, d].
  torch::Tensor forward(const torch::Tensor& x, const Segments& segments) const;

  /// Attention of x [N_q, d] to keys and values projected before.
  torch::Tensor attend(const LinearInput& x, const Segments& queries, const KeyValue& memory,
                       const Segments& keys) const;

  /// Keys and values of a memory [N_k, d].
  KeyValue project(const LinearInput& memory) const;

  /// Self-attention of one new token per hypothesis, x [B, d], to itself and all before it; `rows`
  /// [B, T] says where in the cache these lie, see `Lineage`.
  torch::Tensor step(const torch::Tensor& x, KeyValueCache& cache, const torch::Tensor& rows) const;

  std::shared_ptr<Linear> query, key, value, output;

 private:
  AttentionOptions kernel_options() const;

  AttentionLayerOptions options_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace ballast
