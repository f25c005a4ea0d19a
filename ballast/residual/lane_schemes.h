#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"

namespace ballast {

// Schemes whose stream has several lanes.

/// Post-Norm; what enters a layer is added again before its last norm. Lane 1 carries it there.
struct BottomToTop {
  static constexpr KindInfo info{"b2t", "post_norm; a layer's input is added before its last norm",
                                 "Takase et al. 2022, arXiv:2206.00330"};
  ResidualForm form(const ResidualSite& site) const {
    const double first = site.kind == Sublayer::self_attention;
    const double last = site.kind == Sublayer::feed_forward;
    return {.norms = {Point::stream},
            .shortcut = constant({2, {1, last, first, 1 - first}}),
            .branch = constant({{1, 0}})};
  }
  StackForm stack() const { return {.lanes = 2, .leave = {{1, 0}}}; }
  bool operator==(const BottomToTop&) const = default;
};

/// Static Hyper-Connections: every factor between n lanes is trained, from the start at which each
/// lane is that of Pre-Norm and connection k reads lane k mod n. The last matrix of a branch is
/// drawn smaller by 1/sqrt(n), so that the sum of the lanes keeps its scale.
struct HyperConnections {
  static constexpr KindInfo info{"hyper_connections", "x_i' = sum_j A_ij x_j + b_i f(norm(m x))",
                                 "Zhu et al. 2024, arXiv:2409.19606"};
  int64_t lanes = 4;

  ResidualForm form(const ResidualSite& site) const {
    const auto n = static_cast<int>(lanes);
    std::vector<double> shortcut(lanes * lanes, 0), read(lanes, 0);
    for (int i = 0; i < n; ++i) shortcut[i * n + i] = 1;
    read[site.index % n] = 1;
    return {.norms = {Point::read},
            .shortcut = trained_scalar({n, shortcut}),
            .branch = trained_scalar(std::vector<double>(lanes, 1)),
            .read = trained_scalar(read),
            .gains = {.write = 1 / std::sqrt(n), .other = 1 / std::sqrt(n)}};
  }
  StackForm stack() const { return {.lanes = static_cast<int>(lanes), .norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(field("lanes", &HyperConnections::lanes, "lanes of the stream, n",
                                 Bounds{.low = 1, .high = 64}));
  }
  bool operator==(const HyperConnections&) const = default;
};

using LaneSchemes = std::variant<BottomToTop, HyperConnections>;

}  // namespace ballast
