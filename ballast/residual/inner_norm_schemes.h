#pragma once

#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"
#include "ballast/residual/norm_place_schemes.h"

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

/// What HybridNorm normalises of an attention, each head by itself: queries, keys, values, and the
/// context, which is what the heads give.
enum class AttentionNorm { qkv, qkvc, qk, kv };

template <>
struct EnumNames<AttentionNorm> {
  static constexpr std::array<std::pair<std::string_view, AttentionNorm>, 4> value{
      {{"qkv", AttentionNorm::qkv},
       {"qkvc", AttentionNorm::qkvc},
       {"qk", AttentionNorm::qk},
       {"kv", AttentionNorm::kv}}};
};

/// y = x + attention(x), normalised within; then z + f(z) with z = norm(y). The norm of y stands at
/// the end of the connection before the feed-forward layer.
struct HybridNorm {
  static constexpr KindInfo info{"hybrid_norm",
                                 "norms of q, k, v; z + f(z), z = norm(x + attention)",
                                 "Zhuo et al. 2025, arXiv:2503.04598"};
  AttentionNorm attention = AttentionNorm::qkv;
  NormPlacement feed_forward = NormPlacement::post;
  bool first_block = false;

  ResidualForm form(const ResidualSite& site) const {
    const bool is_special = first_block && site.layer == 0;
    const NormPlacement place = is_special ? NormPlacement::pre : feed_forward;
    if (site.kind == Sublayer::feed_forward) {
      return {.norms = place == NormPlacement::pre ? Points{Point::read} : Points{}};
    }
    Points norms;
    if (is_special) norms.insert(Point::read);
    if (place == NormPlacement::post && is_before_feed_forward(site)) norms.insert(Point::stream);
    return {.norms = norms, .head_norms = attention_norms()};
  }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("attention", &HybridNorm::attention,
              "what is normalised in each head: qkv, qkvc (the context too), qk, kv"),
        field("feed_forward", &HybridNorm::feed_forward,
              "where the norm of the feed-forward layer stands: post, pre, none"),
        field("first_block", &HybridNorm::first_block,
              "HybridNorm*: the first block is pre_norm, its attention normalised within as well"));
  }
  bool operator==(const HybridNorm&) const = default;

 private:
  constexpr Points attention_norms() const {
    switch (attention) {
      case AttentionNorm::qkv:
        break;
      case AttentionNorm::qkvc:
        return {Point::query, Point::key, Point::value, Point::heads};
      case AttentionNorm::qk:
        return {Point::query, Point::key};
      case AttentionNorm::kv:
        return {Point::key, Point::value};
    }
    return {Point::query, Point::key, Point::value};
  }
  static bool is_before_feed_forward(const ResidualSite& site) {
    const bool has_cross = site.stack == Stack::decoder && site.encoder_layers > 0;
    return site.kind == (has_cross ? Sublayer::cross_attention : Sublayer::self_attention);
  }
};

using InnerNormSchemes = std::variant<NormFormer, SubNorm, PeriNorm, HybridNorm>;

}  // namespace ballast
