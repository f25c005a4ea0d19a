#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"

namespace ballast {

// Schemes that are told apart by where their norms stand.

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

/// Nothing but the sum: what is left of a scheme whose coefficients went into the weights. Deep
/// stacks need an initialisation that keeps branches small.
struct NoNorm {
  static constexpr KindInfo info{"no_norm", "x + f(x)", "He et al. 2015, arXiv:1512.03385"};
  ResidualForm form(const ResidualSite&) const { return {}; }
  bool operator==(const NoNorm&) const = default;
};

using NormPlaceSchemes = std::variant<PostNorm, PreNorm, SandwichNorm, NoNorm>;

}  // namespace ballast
