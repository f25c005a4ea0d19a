#pragma once

#include <cmath>
#include <tuple>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"

namespace ballast {

// Schemes with norms or factors inside a branch, or around the whole stack.

/// Three additions to Pre-Norm: a norm of what an attention gives, a factor for each of its heads
/// (before W_o, as in the paper; fairseq multiplies after it), a norm of the hidden activation.
struct NormFormer {
  static constexpr KindInfo info{"normformer",
                                 "pre_norm, norms of attention and hidden, head gains",
                                 "Shleifer et al. 2021, arXiv:2110.09456"};
  bool residual_factor = false;

  ResidualForm form(const ResidualSite& site) const {
    if (site.kind != Sublayer::feed_forward) {
      return {.norms = {Point::read, Point::branch},
              .factors = {{Point::heads, trained_per_head(1)}}};
    }
    return {.norms = {Point::read, Point::hidden},
            .shortcut = residual_factor ? trained_vector(1) : constant(1)};
  }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(field("residual_factor", &NormFormer::residual_factor,
                                 "a trained vector on the feed-forward shortcut (small models)"));
  }
  bool operator==(const NormFormer&) const = default;
};

/// Pre-Norm with a norm of what the last matrix of a branch reads, and a gain from the depth.
/// Called Sub-LN, of Magneto. Cross-attention gets neither, as in the authors' code.
struct SubNorm {
  static constexpr KindInfo info{"sub_norm", "x + W_out norm(inner(norm(x))), gain on v, o, ff",
                                 "Wang et al. 2022, arXiv:2210.06423"};
  /// Of n encoder and m decoder layers: sqrt(ln(2 n)) of a single stack; with both sqrt(ln(3 m)) in
  /// the decoder and sqrt(ln(3 m) ln(2 n) / 3) in the encoder.
  double gamma(const ResidualSite& site) const {
    const double n = site.encoder_layers, m = site.decoder_layers;
    if (n == 0 || m == 0) return std::sqrt(std::log(2 * (n + m)));
    if (site.stack == Stack::decoder) return std::sqrt(std::log(3 * m));
    return std::sqrt(std::log(3 * m) * std::log(2 * n) / 3);
  }
  ResidualForm form(const ResidualSite& site) const {
    if (site.kind == Sublayer::cross_attention) return {.norms = {Point::read}};
    return {.norms = {Point::read, Point::heads, Point::hidden}, .gains = value_path(gamma(site))};
  }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  bool operator==(const SubNorm&) const = default;
};

/// Sandwich-Norm with a norm of the embedding too, so that the stream's variance grows linearly and
/// not exponentially in training (the paper's analysis).
struct PeriNorm {
  static constexpr KindInfo info{"peri_norm",
                                 "x + norm(f(norm(x))), norms before and after the stack",
                                 "Kim et al. 2025, arXiv:2502.02732"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::read, Point::branch}}; }
  StackForm stack() const { return {.norms = {Point::embedding, Point::stack}}; }
  bool operator==(const PeriNorm&) const = default;
};

using InnerNormSchemes = std::variant<NormFormer, SubNorm, PeriNorm>;

}  // namespace ballast
