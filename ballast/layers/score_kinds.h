#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>

#include "ballast/base/choice.h"

namespace ballast {

/// What becomes of the product of a query and a key.
struct ScoreForm {
  std::optional<double> scale = {};  ///< its factor; absent: table two's at `scores`
};

/// 1/sqrt(K), where the parameterisation has no other for its widths.
struct ParameterizedScores {
  static constexpr KindInfo info{"parameterized",
                                 "q k^T times the parameterization's factor, 1/sqrt(K) in standard",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};

  ScoreForm form(int64_t) const { return {}; }
  bool operator==(const ParameterizedScores&) const = default;
};

struct InverseSqrtScores {
  static constexpr KindInfo info{"inverse_sqrt", "q k^T / sqrt(K)",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};

  ScoreForm form(int64_t d_head) const {
    return {.scale = 1 / std::sqrt(static_cast<double>(d_head))};
  }
  bool operator==(const InverseSqrtScores&) const = default;
};

/// For queries and keys that learn to be alike: their product then grows with K, not with its root.
struct InverseScores {
  static constexpr KindInfo info{"inverse", "q k^T / K", "Yang et al. 2022, arXiv:2203.03466"};

  ScoreForm form(int64_t d_head) const { return {.scale = 1 / static_cast<double>(d_head)}; }
  bool operator==(const InverseScores&) const = default;
};

/// The initial values have to keep the product small, as T5's of the queries do.
struct UnscaledScores {
  static constexpr KindInfo info{"none", "q k^T", "Raffel et al. 2020, arXiv:1910.10683"};

  ScoreForm form(int64_t) const { return {.scale = 1}; }
  bool operator==(const UnscaledScores&) const = default;
};

/// Every scale of the logits of attention that a recipe can name.
using ScoreChoice =
    std::variant<ParameterizedScores, InverseSqrtScores, InverseScores, UnscaledScores>;

inline ScoreForm form_of(const ScoreChoice& choice, int64_t d_head) {
  return std::visit([&](const auto& kind) { return kind.form(d_head); }, choice);
}

}  // namespace ballast
