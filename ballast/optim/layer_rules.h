#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/optim/adam_rules.h"
#include "ballast/optim/rule.h"

namespace ballast {

// Rules that also look at a whole matrix (or vector): at the size of its gradient or of its
// weights.

/// AdamW that slows down for a matrix whose second moment is out of date, which is what precedes a
/// loss spike: its rate, also of the decay, is divided by max(1, rms(g / max(sqrt(v_hat), eps))).
struct StableAdamW : AdamState {
  static constexpr KindInfo info{
      "stable_adamw",
      "w -= lr / max(1, rms(g / sqrt(v_hat))) (weight_decay w + m_hat / (sqrt(v_hat) + eps))",
      "Wortsman et al. 2023, arXiv:2304.13013"};
  static constexpr auto fields() { return adam_fields<StableAdamW>(); }
  void update(std::span<const ParameterStep> all, int64_t t) const;
  bool operator==(const StableAdamW&) const = default;

  double lr = 1e-3, beta1 = 0.9, beta2 = 0.99, eps = 1e-8, weight_decay = 0.01;
};

/// The gradient is divided by the norm of its whole matrix, averaged over steps; v starts at the
/// first squared norm, and m is a sum without a factor of 1 - beta1. One mean a weight in memory
/// where Adam has two. Weight decay passes through m.
struct NovoGrad {
  static constexpr KindInfo info{
      "novograd",
      "v = beta2 v + (1 - beta2) |g|^2; m = beta1 m + g / (sqrt(v) + eps) + weight_decay w; "
      "w -= lr m",
      "Ginsburg et al. 2019, arXiv:1905.11286"};
  static constexpr auto fields() { return adam_fields<NovoGrad>(); }
  bool operator==(const NovoGrad&) const = default;

  UpdateSize update_size() const { return UpdateSize::adaptive; }
  std::vector<StateTensor> state(const ParameterFacts&) const {
    return {{"first_moment"}, {"second_moment", Per::matrix}};
  }
  void update(std::span<const ParameterStep> all, int64_t t) const;

  double lr = 0.01, beta1 = 0.95, beta2 = 0.98, eps = 1e-8, weight_decay = 0;
};

/// AdamW whose update is brought to the norm of the weights of its matrix. Where that norm or the
/// update's is 0, and for parameters without weight decay, which start at 0 or 1 and would hardly
/// leave it, the update stays as AdamW has it (as in the authors' code). For very large batches: a
/// matrix moves by a share lr of its own norm.
struct Lamb : AdamState {
  static constexpr KindInfo info{
      "lamb", "u = m_hat / (sqrt(v_hat) + eps) + weight_decay w; w -= lr u |w| / |u|",
      "You et al. 2019, arXiv:1904.00962"};
  static constexpr auto fields() { return adam_fields<Lamb>(); }
  void update(std::span<const ParameterStep> all, int64_t t) const;
  bool operator==(const Lamb&) const = default;
  UpdateSize update_size() const { return UpdateSize::weight; }

  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-6, weight_decay = 0.01;
};

}  // namespace ballast
