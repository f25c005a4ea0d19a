#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>

#include "ballast/kernels/attention.h"
#include "ballast/layers/branch.h"
#include "ballast/layers/dropout.h"
#include "ballast/layers/linear.h"
#include "ballast/layers/pointed.h"

namespace ballast {

struct AttentionLayerOptions {
  int64_t d_model = 512;
  int64_t heads = 8;
  std::optional<int64_t> key_value_heads = {};  ///< G, divides H; absent: H
  std::optional<int64_t> head_width = {};       ///< K; absent: d / H
  bool bias = true;                             ///< of all four matrices
  double dropout = 0;                           ///< of the probabilities
  bool causal = false;
  WeightForm weights = {};
  Standing standing = {};                  ///< at `query`, `key`, `value` and `heads`
  std::optional<double> score_scale = {};  ///< of q k^T; absent: table two's factor at `scores`
  double soft_cap = 0;                     ///< c of c tanh(logit / c), above 0; 0: none

  int64_t d_head() const { return head_width.value_or(d_model / heads); }
  /// Columns of queries and of what the heads give, H K.
  int64_t query_width() const { return heads * d_head(); }
  /// Columns of keys and of values, G K.
  int64_t key_value_width() const { return key_value_heads.value_or(heads) * d_head(); }
};

/// Multi-head attention on packed rows: W_o attention(W_q x, W_k m, W_v m), m being x itself or the
/// memory (Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2). W_q is [H K, d], W_k and
/// W_v [G K, d], W_o [d, H K], all with a bias or none. The factor of the logits is table two's at
/// `scores`: 1/sqrt(K) unless it says otherwise.
///
/// Query head h reads key and value head floor(h G / H); with G = 1 all read one (Shazeer 2019,
/// arXiv:1911.02150; between the two Ainslie et al. 2023, arXiv:2305.13245).
class Attention : public Pointed, public Branch {
 public:
  /// `heads` has to divide `d_model` where there is no `head_width`, and `key_value_heads` them.
  explicit Attention(const AttentionLayerOptions& options);

  /// That of the logits; none where the options fix it.
  std::vector<FactorSlot> factors() override;

  double score_scale() const { return scale_; }  ///< the factor of q k^T

  std::shared_ptr<Linear> query, key, value, output;

 protected:
  /// Self-attention within each of the sequences of x [N, d]; appends their keys and values to the
  /// cache, if there is one.
  torch::Tensor within(const torch::Tensor& x, const Surroundings& around,
                       KeyValueCache* cache = nullptr) const;

  /// Attention of x [N_q, d] to keys and values projected before; sequence b of `queries` reads
  /// sequence b of `keys`.
  torch::Tensor attend(const LinearInput& x, const Segments& queries, const KeyValue& memory,
                       const Segments& keys) const;

  /// Keys and values of a memory [N_k, d].
  KeyValue project(const Memory& memory) const;

  /// Self-attention of one new token per hypothesis, x [B, d], to itself and all before it. Appends
  /// its keys and values to the cache, where `reading.lineage` has rows for them already.
  torch::Tensor extend(const torch::Tensor& x, KeyValueCache& cache, const Reading& reading) const;

 private:
  AttentionOptions kernel_options() const;

  AttentionLayerOptions options_;
  double scale_;
  std::shared_ptr<Dropout> dropout_;
};

/// Attention of a sequence to itself.
class SelfAttention : public Attention {
 public:
  using Attention::Attention;
  torch::Tensor forward(const torch::Tensor& h, const Surroundings& around) const override;
  torch::Tensor step(const torch::Tensor& h, BranchCache& cache,
                     const Reading& reading) const override;
};

/// Attention of a sequence to the memory.
class CrossAttention : public Attention {
 public:
  using Attention::Attention;
  torch::Tensor forward(const torch::Tensor& h, const Surroundings& around) const override;
  torch::Tensor step(const torch::Tensor& h, BranchCache& cache,
                     const Reading& reading) const override;
  void remember(const Memory& memory, BranchCache& cache) const override;
};

}  // namespace ballast
