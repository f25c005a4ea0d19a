#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"

namespace ballast {

// Hyper-Connections and their relatives: n lanes, between which every number is trained.

/// n x n, `value` where a lane meets itself.
inline Grid diagonal_grid(int lanes, double value) {
  std::vector<double> values(static_cast<size_t>(lanes) * lanes, 0);
  for (int i = 0; i < lanes; ++i) values[i * lanes + i] = value;
  return {lanes, std::move(values)};
}

/// Trained numbers that follow the whole stream and go through `map`.
inline Coefficient whole_gate(Grid start, GateMap map) {
  Coefficient made = trained_scalar(std::move(start));
  made.gate = Gate{.outer = map, .all_lanes = true};
  return made;
}

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
    std::vector<double> read(lanes, 0);
    read[site.index % n] = 1;
    const auto factors = [&](Grid start) {
      Coefficient made = trained_scalar(std::move(start));
      if (dynamic) made.gate = Gate{.inner = GateMap::tanh, .center = true};
      return made;
    };
    return {.norms = {Point::read},
            .shortcut = factors(diagonal_grid(n, 1)),
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

/// Hyper-Connections between n parts of one row, so that nothing is copied: each part of what f
/// reads is a mixture of the parts, and each gets its part of what f gives. Starts as Pre-Norm.
struct FracConnections {
  static constexpr KindInfo info{"frac_connections", "hyper_connections between parts of the row",
                                 "Zhu et al. 2025, arXiv:2503.14125"};
  int64_t parts = 4;

  ResidualForm form(const ResidualSite&) const {
    const auto n = static_cast<int>(parts);
    return {.norms = {Point::read},
            .shortcut = trained_scalar(diagonal_grid(n, 1)),
            .branch = trained_scalar(std::vector<double>(parts, 1)),
            .read = trained_scalar(diagonal_grid(n, 1))};
  }
  StackForm stack() const {
    return {.lanes = static_cast<int>(parts), .parts = true, .norms = {Point::stack}};
  }
  static constexpr auto fields() {
    return std::make_tuple(field("parts", &FracConnections::parts,
                                 "of a row, n; they divide model.d_model",
                                 Bounds{.low = 2, .high = 64}));
  }
  bool operator==(const FracConnections&) const = default;
};

/// At the start f reads an even mean of n lanes and each is given f once; gates of the whole stream
/// change that.
inline ResidualForm evenly_gated(int lanes) {
  const std::vector<double> even(lanes, -std::log(std::max(lanes - 1, 1)));
  return {.norms = {Point::read},
          .branch = whole_gate(std::vector<double>(lanes, 0), GateMap::twice_sigmoid),
          .read = whole_gate(even, GateMap::sigmoid)};
}

/// Hyper-Connections whose lanes are mixed by a doubly stochastic matrix, so that no product of
/// them can blow up; read by sigmoids, written by twice a sigmoid, all of the whole stream. At the
/// start A is near the identity, each lane is read 1/n and written 1. Made for deep stacks, along
/// which the factors of Hyper-Connections multiply up.
struct ManifoldHyperConnections {
  static constexpr KindInfo info{"mhc", "hyper_connections, lanes mixed by a doubly stochastic A",
                                 "Xie et al. 2025, arXiv:2512.24880"};
  int64_t lanes = 4;

  ResidualForm form(const ResidualSite&) const {
    const auto n = static_cast<int>(lanes);
    ResidualForm made = evenly_gated(n);
    made.shortcut = whole_gate(diagonal_grid(n, diagonal), GateMap::doubly_stochastic);
    return made;
  }
  StackForm stack() const { return {.lanes = static_cast<int>(lanes), .norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(field("lanes", &ManifoldHyperConnections::lanes,
                                 "lanes of the stream, n", Bounds{.low = 2, .high = 64}));
  }
  bool operator==(const ManifoldHyperConnections&) const = default;

  static constexpr double diagonal = 5;  ///< logit of a lane's own share, the paper names none
};

/// The same with a mean of all n! permutations, which is doubly stochastic without iterations.
struct PermutedHyperConnections {
  static constexpr KindInfo info{"mhc_lite", "mhc, A a mean of all permutations of the lanes",
                                 "Yang and Gao 2026, arXiv:2601.05732"};
  int64_t lanes = 4;

  ResidualForm form(const ResidualSite&) const {
    int64_t permutations = 1;
    for (int64_t i = 2; i <= lanes; ++i) permutations *= i;
    std::vector<double> shortcut(permutations, 0);
    shortcut.front() = identity;
    ResidualForm made = evenly_gated(static_cast<int>(lanes));
    made.shortcut = whole_gate(std::move(shortcut), GateMap::permutations);
    return made;
  }
  StackForm stack() const { return {.lanes = static_cast<int>(lanes), .norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(field("lanes", &PermutedHyperConnections::lanes,
                                 "lanes of the stream, n; each connection has n! numbers",
                                 Bounds{.low = 2, .high = 5}));
  }
  bool operator==(const PermutedHyperConnections&) const = default;

  /// Logit of the permutation that changes nothing, in place of the paper's, which is not at hand.
  static constexpr double identity = 8;
};

/// The same with lanes that are not mixed at all.
struct IdentityHyperConnections {
  static constexpr KindInfo info{"ihc", "mhc, the lanes not mixed",
                                 "Tencent Hunyuan team 2026 (Hy4 report)"};
  int64_t lanes = 4;

  ResidualForm form(const ResidualSite&) const { return evenly_gated(static_cast<int>(lanes)); }
  StackForm stack() const { return {.lanes = static_cast<int>(lanes), .norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(field("lanes", &IdentityHyperConnections::lanes,
                                 "lanes of the stream, n", Bounds{.low = 2, .high = 64}));
  }
  bool operator==(const IdentityHyperConnections&) const = default;
};

using HyperSchemes = std::variant<HyperConnections, FracConnections, ManifoldHyperConnections,
                                  PermutedHyperConnections, IdentityHyperConnections>;

}  // namespace ballast
