#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"

namespace ballast {

// Schemes that are told apart by where their norms stand.

/// Where a scheme that leaves it to the recipe has its norm.
enum class NormPlacement { none, pre, post };

template <>
struct EnumNames<NormPlacement> {
  static constexpr std::array<std::pair<std::string_view, NormPlacement>, 3> value{
      {{"none", NormPlacement::none}, {"pre", NormPlacement::pre}, {"post", NormPlacement::post}}};
};

/// The norms of a connection so placed.
constexpr Points norms_of(NormPlacement place) {
  if (place == NormPlacement::pre) return {Point::read};
  if (place == NormPlacement::post) return {Point::stream};
  return {};
}

/// The norm after the last of them, which an unnormed stream needs.
inline StackForm stack_of(NormPlacement place) {
  if (place == NormPlacement::pre) return {.norms = {Point::stack}};
  return {};
}

/// The original Transformer. Good when it trains, but deep stacks diverge without a warm-up: the
/// first updates change the output too much, and gradients are large near it.
struct PostNorm {
  static constexpr KindInfo info{"post_norm", "norm(x + f(x))",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::stream}}; }
  bool operator==(const PostNorm&) const = default;
};

/// Deep stacks train without a warm-up. The stream grows with the depth, so late branches weigh
/// less and less (about 1/sqrt(i) at the start), and the norm after the stack is needed.
struct PreNorm {
  static constexpr KindInfo info{"pre_norm", "x + f(norm(x)), norm after the stack",
                                 "Xiong et al. 2020, arXiv:2002.04745"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::read}}; }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  bool operator==(const PreNorm&) const = default;
};

/// Pre-Norm with a second norm on what the branch gives, so that no branch can blow up the stream;
/// proposed against overflows in half precision.
struct SandwichNorm {
  static constexpr KindInfo info{"sandwich_norm", "x + norm(f(norm(x))), norm after the stack",
                                 "Ding et al. 2021, arXiv:2105.13290"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::read, Point::branch}}; }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  bool operator==(const SandwichNorm&) const = default;
};

/// OLMo 2's order. Its authors normalise queries and keys too (`model.query_key_norm`).
struct ReorderedNorm {
  static constexpr KindInfo info{"reordered_norm", "x + norm(f(x)), norm after the stack",
                                 "OLMo team 2025, arXiv:2501.00656"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::branch}}; }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  bool operator==(const ReorderedNorm&) const = default;
};

/// The input of block l is divided by sqrt(l), so that the stream does not grow with depth.
struct LayerNormScaling {
  static constexpr KindInfo info{"layer_norm_scaling", "x + f(norm(x) / sqrt(l)), l the block",
                                 "Sun et al. 2025, arXiv:2502.05795"};
  ResidualForm form(const ResidualSite& site) const {
    return {.norms = {Point::read}, .input = constant(1 / std::sqrt(site.layer + 1.0))};
  }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  bool operator==(const LayerNormScaling&) const = default;
};

/// Post-Norm in the first floor(share L) of the L blocks of a stack, Pre-Norm behind.
struct MixNorm {
  static constexpr KindInfo info{"mix_norm", "post_norm in the first blocks, pre_norm behind",
                                 "Li et al. 2024, arXiv:2412.13795"};
  double share = 0.25;

  ResidualForm form(const ResidualSite& site) const {
    // A share such as 0.29 of 100 is 28.999999999999996 in binary.
    const bool is_post = site.layer + 1 <= share * layers_of(site) + 1e-6;
    return {.norms = norms_of(is_post ? NormPlacement::post : NormPlacement::pre)};
  }
  StackForm stack() const {
    return stack_of(share == 1 ? NormPlacement::post : NormPlacement::pre);
  }
  static constexpr auto fields() {
    return std::make_tuple(field("share", &MixNorm::share,
                                 "of the blocks of a stack, from the first, with post_norm",
                                 Bounds{.low = 0, .high = 1}));
  }
  bool operator==(const MixNorm&) const = default;
};

/// Post-Norm with a heavy shortcut and a norm of the input. In the first block the shortcut counts
/// 1, and its first connection is Pre-Norm.
struct Keel {
  static constexpr KindInfo info{"keel", "norm(alpha x + f(norm(x))), alpha the connections",
                                 "Chen and Wei 2026, arXiv:2601.19895"};
  std::optional<double> alpha;

  ResidualForm form(const ResidualSite& site) const {
    if (site.index == 0) return {.norms = {Point::read}};
    return {.norms = {Point::read, Point::stream},
            .shortcut = constant(site.layer == 0 ? 1 : alpha.value_or(site.count))};
  }
  static constexpr auto fields() {
    return std::make_tuple(field(
        "alpha", &Keel::alpha,
        "of the shortcut, above 1; absent: the number of connections of the stack", positive));
  }
  bool operator==(const Keel&) const = default;
};

using NormPlaceSchemes =
    std::variant<PostNorm, PreNorm, SandwichNorm, ReorderedNorm, LayerNormScaling, MixNorm, Keel>;

}  // namespace ballast
