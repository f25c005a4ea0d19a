#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "ballast/layers/attention.h"
#include "ballast/layers/feed_forward.h"
#include "ballast/model/options.h"
#include "ballast/residual/residual.h"

namespace ballast {

/// Where a block stands.
struct BlockPlace {
  Stack stack = Stack::encoder;
  int layer = 0;
  bool cross_attention = false;
};

/// What the encoder hands to the decoder: rows [N_s, d] and where each sentence lies.
struct Memory {
  torch::Tensor rows;
  Segments segments;
  torch::Tensor bf16 = {};  ///< copy of the rows, see `LinearInput`

  LinearInput input() const { return {rows, bf16}; }
};

/// What the hypotheses of a decoding step read.
struct Reading {
  Lineage lineage;     ///< rows of the caches of self-attention
  Segments readers;    ///< rows of the step that read each sentence
  Segments sentences;  ///< where these lie in the memory; empty for a causal_lm
};

/// A block's keys and values while decoding.
struct BlockCache {
  KeyValueCache self;
  KeyValue cross;  ///< of the memory, projected once
};

/// Self-attention, cross-attention where there is a memory, feed-forward, each in its residual.
class Block : public torch::nn::Module {
 public:
  Block(const ModelOptions& options, const BlockPlace& place);

  /// x [N, d], its sequences, and the memory of a cross-attending block (else null).
  torch::Tensor forward(const torch::Tensor& x, const Segments& segments,
                        const Memory* memory) const;

  /// One token per hypothesis, x [B, d].
  torch::Tensor step(const torch::Tensor& x, BlockCache& cache, const Reading& reading) const;

  /// Connections per block of this shape.
  static int connections(bool cross_attention) { return cross_attention ? 3 : 2; }

  std::shared_ptr<Attention> self_attention, cross_attention;
  std::shared_ptr<FeedForward> feed_forward;
  std::shared_ptr<Residual> self_attention_residual, cross_attention_residual,
      feed_forward_residual;

 private:
  void build_self_attention(const ModelOptions& options, const ResidualSite& site);
  void build_cross_attention(const ModelOptions& options, const ResidualSite& site);
  void build_feed_forward(const ModelOptions& options, const ResidualSite& site);
  std::shared_ptr<Residual> build_residual(const std::string& name, const ModelOptions& options,
                                           const ResidualSite& site);
};

}  // namespace ballast
