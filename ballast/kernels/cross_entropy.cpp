#include "ballast/kernels/cross_entropy.h"

#include "ballast/kernels/linear.h"

namespace ballast {
namespace {

torch::Tensor wide(const torch::Tensor& x) {
  return x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32);
}

/// Shares of the loss: of the target's -log p, and of the sum over all classes.
struct Shares {
  double target, every;
};

Shares shares_of(const CrossEntropyOptions& options, int64_t classes) {
  if (options.smoothing == 0) return {1, 0};
  if (options.convention == Smoothing::all_classes) {
    return {1 - options.smoothing, options.smoothing / static_cast<double>(classes)};
  }
  const double each = options.smoothing / static_cast<double>(classes - 1);
  return {1 - options.smoothing - each, each};
}

CrossEntropyInputs counted_rows(const CrossEntropyInputs& inputs) {
  const torch::Tensor rows = inputs.targets.ge(0).nonzero().squeeze(1);
  if (rows.size(0) == inputs.targets.size(0)) return inputs;
  return {inputs.hidden.index_select(0, rows), inputs.weight, inputs.bias,
          inputs.targets.index_select(0, rows)};
}

}  // namespace

CrossEntropy cross_entropy_reference(const CrossEntropyInputs& inputs,
                                     const CrossEntropyOptions& options) {
  const CrossEntropyInputs rows = counted_rows(inputs);
  const torch::Tensor logits =
      linear_reference(rows.hidden, rows.weight, rows.bias, {.multiplier = options.multiplier});
  const torch::Tensor log_p = torch::log_softmax(wide(logits), -1);
  const torch::Tensor nll = -log_p.gather(1, rows.targets.unsqueeze(1)).sum();
  const Shares shares = shares_of(options, inputs.weight.size(0));
  const torch::Tensor loss =
      shares.every == 0 ? nll * shares.target : nll * shares.target - log_p.sum() * shares.every;
  return {loss, nll.detach(), rows.targets.size(0)};
}

CrossEntropy cross_entropy(const CrossEntropyInputs& inputs, const CrossEntropyOptions& options) {
  return cross_entropy_reference(inputs, options);
}

torch::Tensor target_log_probabilities(const CrossEntropyInputs& inputs, double multiplier) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor logits =
      linear_reference(inputs.hidden, inputs.weight, inputs.bias, {.multiplier = multiplier});
  const torch::Tensor log_p = torch::log_softmax(wide(logits), -1);
  const torch::Tensor picked = log_p.gather(1, inputs.targets.clamp_min(0).unsqueeze(1)).squeeze(1);
  return picked.masked_fill(inputs.targets.lt(0), 0.0);
}

}  // namespace ballast
