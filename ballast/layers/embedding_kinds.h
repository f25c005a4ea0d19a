#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>

#include "ballast/base/choice.h"

namespace ballast {

/// What becomes of a token's row of the table before positions are added.
struct EmbeddingForm {
  std::optional<double> factor = {};  ///< absent: table two's at `token`
};

/// sqrt(d), where the parameterisation has no other for its widths.
struct ParameterizedEmbedding {
  static constexpr KindInfo info{"parameterized",
                                 "the row times the parameterization's factor, sqrt(d) in standard",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};

  EmbeddingForm form(int64_t) const { return {}; }
  bool operator==(const ParameterizedEmbedding&) const = default;
};

struct SqrtWidthEmbedding {
  static constexpr KindInfo info{"sqrt_width", "the row times sqrt(d)",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};

  EmbeddingForm form(int64_t d_model) const {
    return {.factor = std::sqrt(static_cast<double>(d_model))};
  }
  bool operator==(const SqrtWidthEmbedding&) const = default;
};

/// As BERT, GPT-2 and Llama have it. Initial values have to give the rows the size that they need.
struct UnscaledEmbedding {
  static constexpr KindInfo info{"none", "the row", "Devlin et al. 2018, arXiv:1810.04805"};

  EmbeddingForm form(int64_t) const { return {.factor = 1}; }
  bool operator==(const UnscaledEmbedding&) const = default;
};

/// Every factor of the embeddings that a recipe can name.
using EmbeddingScaleChoice =
    std::variant<ParameterizedEmbedding, SqrtWidthEmbedding, UnscaledEmbedding>;

inline EmbeddingForm form_of(const EmbeddingScaleChoice& choice, int64_t d_model) {
  return std::visit([&](const auto& kind) { return kind.form(d_model); }, choice);
}

}  // namespace ballast
