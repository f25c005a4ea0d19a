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

struct PostNorm {
  static constexpr KindInfo info{"post_norm", "norm(x + f(x))",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::stream}}; }
  bool operator==(const PostNorm&) const = default;
};

struct PreNorm {
  static constexpr KindInfo info{"pre_norm", "x + f(norm(x)), norm after the stack",
                                 "Xiong et al. 2020, arXiv:2002.04745"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::read}}; }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  bool operator==(const PreNorm&) const = default;
};

struct SandwichNorm {
  static constexpr KindInfo info{"sandwich_norm", "x + norm(f(norm(x))), norm after the stack",
                                 "Ding et al. 2021, arXiv:2105.13290"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::read, Point::branch}}; }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  bool operator==(const SandwichNorm&) const = default;
};

using NormPlaceSchemes = std::variant<PostNorm, PreNorm, SandwichNorm>;

}  // namespace ballast
