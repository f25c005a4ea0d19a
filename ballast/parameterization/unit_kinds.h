#pragma once

#include <cstdint>
#include <tuple>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/parameterization/scaling.h"

namespace ballast {

/// Every stored weight has a standard deviation of 1, every product 1/sqrt(fan_in), the logits 1/d,
/// those of attention 1/K. With L connections in a stack, the i-th (from 0) is
///
///     x' = x / sqrt(1 + t^2) + t / sqrt(1 + t^2) f(x),    t = w_i / sqrt(L/2 + n_a w_a^2 + n_f
///     w_f^2)
///
/// with n_a attentions and n_f feed-forward layers before it, w_f = r sqrt(2 / (1 + rho^2)) and
/// w_a = rho w_f, so that the stream keeps a second moment of 1. Rates of Adam: matrices
/// 1/sqrt(fan_in), tables 1/sqrt(d), all within a connection times 1/sqrt(blocks); outputs and
/// vectors 1. Of an initialisation only the distribution counts; of a scheme its gains do.
///
/// These are the factors of the forward pass. What the paper adds to them is not there: factors of
/// the gradients alone, which Adam's updates do not see but for eps and clipping, and constants
/// for attention, activation and the loss, which depend on no width.
struct UnitMup {
  static constexpr KindInfo info{
      "u_mup", "y = b + W x / sqrt(fan_in), W ~ 1; logits / d, q k^T / K; x and f weighed to 1",
      "Blake et al. 2024, arXiv:2407.17465"};
  static constexpr auto fields() {
    return std::tuple{
        field("residual", &UnitMup::residual, "r: of branches against what enters the stack",
              positive),
        field("residual_attention", &UnitMup::residual_attention,
              "rho: of attentions against feed-forward layers", positive),
        field("attention_multiplier", &UnitMup::attention_multiplier, "of the logits of attention",
              positive),
        field("output_multiplier", &UnitMup::output_multiplier, "of the logits", positive)};
  }
  bool operator==(const UnitMup&) const = default;

  Scaling scaling(const ParameterFacts& facts, double std, UpdateSize update) const;
  double factor(const FactorFacts& facts) const;

  /// t of a connection.
  double ratio(const ResidualSite& site) const;

  double residual = 1, residual_attention = 1;
  double attention_multiplier = 1, output_multiplier = 1;
};

}  // namespace ballast
