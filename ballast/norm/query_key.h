#pragma once

#include <cmath>
#include <optional>
#include <tuple>
#include <variant>

#include "ballast/norm/kinds.h"

namespace ballast {

/// What happens to projected queries [N_q, H K] and keys [N_k, G K] before they are compared. The
/// default is nothing.
struct QueryKeyForm {
  std::optional<NormForm> norm = {};       ///< of both
  std::optional<double> gain = {};         ///< start of a trained factor of the logits
  std::optional<double> score_scale = {};  ///< of q k^T, in place of table two's
};

/// Plain dot products, whose size nothing bounds.
struct NoQueryKeyNorm {
  static constexpr KindInfo info{"none", "q k^T", "Vaswani et al. 2017, arXiv:1706.03762"};

  QueryKeyForm form(const NormChoice&) const { return {}; }
  bool operator==(const NoQueryKeyNorm&) const = default;
};

/// Each head's query and key are normalised by themselves, which bounds the logits and keeps large
/// learning rates from making them explode. One gain [K] serves all heads, and there is no bias.
struct PerHeadNorm {
  static constexpr KindInfo info{"per_head", "norm of each head's q and k",
                                 "Dehghani et al. 2023, arXiv:2302.05442"};
  std::optional<NormChoice> norm;

  QueryKeyForm form(const NormChoice& of_model) const {
    return {.norm = of_each_head(form_of(norm.value_or(of_model)))};
  }
  static constexpr auto fields() {
    return std::make_tuple(field("norm", &PerHeadNorm::norm, "which; absent: model.norm"));
  }
  bool operator==(const PerHeadNorm&) const = default;
};

/// One norm over all heads, with a gain [H K] (keys: [G K]): heads keep their
/// relative sizes. That of OLMo 2.
struct AllHeadsNorm {
  static constexpr KindInfo info{"all_heads", "norm of q and of k, all heads together",
                                 "OLMo team 2025, arXiv:2501.00656"};
  std::optional<NormChoice> norm;

  QueryKeyForm form(const NormChoice& of_model) const {
    return {.norm = form_of(norm.value_or(of_model))};
  }
  static constexpr auto fields() {
    return std::make_tuple(field("norm", &AllHeadsNorm::norm, "which; absent: model.norm"));
  }
  bool operator==(const AllHeadsNorm&) const = default;
};

/// Logits are cosines times one trained factor g; `score_scale` takes 1/sqrt(K) away. Proposed for
/// translation with little data. The default L is of no data set; take it from the data.
struct CosineAttention {
  static constexpr KindInfo info{"cosine", "g q k^T / (|q| |k|), one g, from log2(L^2 - L)",
                                 "Henry et al. 2020, arXiv:2010.04245"};
  int64_t length = 100;

  QueryKeyForm form(const NormChoice&) const {
    const auto longest = static_cast<double>(length);
    return {.norm = NormForm{.groups = NormForm::each_head,
                             .center = false,
                             .placement = EpsPlacement::clamp,
                             .to_length = true,
                             .gain = GainExtent::none,
                             .bias = false},
            .gain = std::log2(longest * longest - longest),
            .score_scale = 1};
  }
  static constexpr auto fields() {
    return std::make_tuple(field("length", &CosineAttention::length,
                                 "L: tokens that 97.5 % of the sentences do not exceed",
                                 Bounds{.low = 2}));
  }
  bool operator==(const CosineAttention&) const = default;
};

/// Every way to normalise queries and keys that a recipe can name.
using QueryKeyChoice = std::variant<NoQueryKeyNorm, PerHeadNorm, AllHeadsNorm, CosineAttention>;

/// `of_model` is `model.norm`, which kinds use that name no norm of their own.
inline QueryKeyForm form_of(const QueryKeyChoice& choice, const NormChoice& of_model) {
  return std::visit([&](const auto& kind) { return kind.form(of_model); }, choice);
}

}  // namespace ballast
