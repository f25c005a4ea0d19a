#pragma once

#include <torch/types.h>

#include <cstdint>

namespace ballast {

/// How label smoothing spreads eps: over all V classes (fairseq up to 0.9, PyTorch), or over the
/// V - 1 wrong ones (later fairseq), where the target loses eps + eps / (V - 1) and regains one
/// part.
enum class Smoothing { all_classes, other_classes };

/// hidden [N, D] through weight [V, D] (and bias [V] or undefined) to logits, against targets.
struct CrossEntropyInputs {
  torch::Tensor hidden, weight, bias;
  torch::Tensor targets;           ///< int64 [N]; a negative target is ignored
  double multiplier = 1;           ///< of the matrix product, not of the bias (table two)
  torch::Tensor bf16_weight = {};  ///< the weight's bfloat16 copy; undefined: float32 products
  double soft_cap = 0;             ///< c: logits become c tanh(logit / c); 0: they stay
};

struct CrossEntropyOptions {
  double smoothing = 0;  ///< eps in [0, 1)
  Smoothing convention = Smoothing::all_classes;
  /// c of c (log Z)^2 in the objective, Z the sum of exp(logits): keeps logits from drifting
  /// (PaLM, Chowdhery et al. 2022, arXiv:2204.02311; ST-MoE, Zoph et al. 2022, arXiv:2202.08906).
  double z_loss = 0;
};

/// Sums over the targets that count, in nats; divide by `tokens` of the whole step.
struct CrossEntropy {
  torch::Tensor loss;       ///< scalar, differentiable without z-loss; 0 when nothing counts
  torch::Tensor nll;        ///< scalar, detached: the loss without smoothing
  torch::Tensor objective;  ///< scalar, differentiable: the loss, and the z-loss where there is one
  int64_t tokens = 0;
};

/// Projection, log-softmax and smoothed loss in chunks of rows: memory O(chunk V), never O(N V).
///
/// eps over all: (1 - eps) nll + eps / V sum_k -log p_k. Over others: (1 - eps - e) nll +
/// e sum_k -log p_k with e = eps / (V - 1). Softmax and sums in float32 or better. The fused
/// version computes the gradients during the forward pass. DataError for a target of V or more.
/// With `bf16_weight` the products take operands rounded to bfloat16: hidden, weight, and the
/// gradient of the logits.
CrossEntropy cross_entropy(const CrossEntropyInputs& inputs, const CrossEntropyOptions& options);

/// The ATen version, for any device and derivative.
CrossEntropy cross_entropy_reference(const CrossEntropyInputs& inputs,
                                     const CrossEntropyOptions& options);

/// Log-probability of each target, float32 or better [N]; ignored targets give 0. No gradient.
torch::Tensor target_log_probabilities(const CrossEntropyInputs& inputs);

}  // namespace ballast
