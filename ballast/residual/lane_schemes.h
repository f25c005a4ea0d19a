#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"

namespace ballast {

// Schemes whose stream has several lanes.

/// Post-Norm; what enters a layer is added again before its last norm. Lane 1 carries it there: the
/// self-attention writes x to it, the feed-forward layer reads it, and it does not leave the stack.
/// For deep Post-Norm stacks, whose gradients vanish through the inner norms.
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

/// Every factor between n lanes is trained, from the start at which each lane is that of Pre-Norm
/// and connection k reads lane k mod n; the dynamic ones follow the stream as well. The last matrix
/// of a branch is drawn smaller by 1/sqrt(n), so that the sum of the lanes keeps its scale. With
/// one lane it does less well than Pre-Norm (the paper). Memory of the stream grows n times.
struct HyperConnections {
  static constexpr KindInfo info{"hyper_connections", "x_i' = sum_j A_ij x_j + b_i f(norm(m x))",
                                 "Zhu et al. 2024, arXiv:2409.19606"};
  int64_t lanes = 4;
  bool dynamic = false;

  ResidualForm form(const ResidualSite& site) const {
    const auto n = static_cast<int>(lanes);
    std::vector<double> shortcut(lanes * lanes, 0), read(lanes, 0);
    for (int i = 0; i < n; ++i) shortcut[i * n + i] = 1;
    read[site.index % n] = 1;
    const auto factors = [&](Grid start) {
      Coefficient made = trained_scalar(std::move(start));
      if (dynamic) made.gate = Gate{.inner = GateMap::tanh, .center = true};
      return made;
    };
    return {.norms = {Point::read},
            .shortcut = factors({n, shortcut}),
            .branch = factors(std::vector<double>(lanes, 1)),
            .read = factors(read),
            .gains = {.write = 1 / std::sqrt(n), .other = 1 / std::sqrt(n)}};
  }
  StackForm stack() const { return {.lanes = static_cast<int>(lanes), .norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("lanes", &HyperConnections::lanes, "lanes of the stream, n",
              Bounds{.low = 1, .high = 64}),
        field("dynamic", &HyperConnections::dynamic,
              "whether the factors follow the stream too, through a tanh; from 2 lanes on"));
  }
  bool operator==(const HyperConnections&) const = default;
};

/// Hyper-Connections whose lanes are mixed by a doubly stochastic matrix, so that no product of
/// them can blow up; read by sigmoids, written by twice a sigmoid, all of the whole stream. At the
/// start A is near the identity, each lane is read 1/n and written 1. Made for
/// deep stacks, along which the factors of Hyper-Connections multiply up.
struct ManifoldHyperConnections {
  static constexpr KindInfo info{"mhc", "hyper_connections, lanes mixed by a doubly stochastic A",
                                 "Xie et al. 2025, arXiv:2512.24880"};
  int64_t lanes = 4;

  ResidualForm form(const ResidualSite&) const {
    const auto n = static_cast<int>(lanes);
    const auto factors = [](Grid start, GateMap map) {
      Coefficient made = trained_scalar(std::move(start));
      made.gate = Gate{.outer = map, .all_lanes = true};
      return made;
    };
    // Near the identity, an even mean over the lanes, and 1.
    std::vector<double> shortcut(lanes * lanes, 0);
    for (int i = 0; i < n; ++i) shortcut[i * n + i] = diagonal;
    const std::vector<double> even(lanes, -std::log(std::max(n - 1, 1)));
    return {.norms = {Point::read},
            .shortcut = factors({n, shortcut}, GateMap::doubly_stochastic),
            .branch = factors(std::vector<double>(lanes, 0), GateMap::twice_sigmoid),
            .read = factors(even, GateMap::sigmoid)};
  }
  StackForm stack() const { return {.lanes = static_cast<int>(lanes), .norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(field("lanes", &ManifoldHyperConnections::lanes,
                                 "lanes of the stream, n", Bounds{.low = 2, .high = 64}));
  }
  bool operator==(const ManifoldHyperConnections&) const = default;

  static constexpr double diagonal = 5;  ///< logit of a lane's own share, the paper names none
};

using LaneSchemes = std::variant<BottomToTop, HyperConnections, ManifoldHyperConnections>;

}  // namespace ballast
