#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"

namespace ballast {

// Schemes with several lanes, each of which is there for something: what they are is told by
// constants.

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

/// Post-Norm in lane 0; lane 1 sums the same branches unnormed, and what leaves is the first and a
/// norm of the second.
struct ResiDual {
  static constexpr KindInfo info{"residual_dual",
                                 "post_norm x, and d + f(x) beside it; x + norm(d)",
                                 "Xie et al. 2023, arXiv:2304.14802"};
  ResidualForm form(const ResidualSite&) const { return {.norms = {Point::stream}}; }
  StackForm stack() const { return {.lanes = 2, .norms = {Point::lane}}; }
  bool operator==(const ResiDual&) const = default;
};

/// Both lanes are read: lane 0 is normed as in Post-Norm, lane 1 where it is read, as in Pre-Norm.
struct SiameseNorm {
  static constexpr KindInfo info{"siamese_norm",
                                 "o = f(x + norm(y)); x' = norm(x + o), y' = y + o; x + norm(y)",
                                 "Li et al. 2026, arXiv:2602.08064"};
  bool damped = false, input_norm = false;

  ResidualForm form(const ResidualSite& site) const {
    const double of_first = damped ? 1 / std::sqrt(2 * (site.layer + 1.0)) : 1;
    Points norms{Point::lane, Point::stream};
    if (input_norm) norms.insert(Point::read);
    return {.norms = norms, .branch = constant({{of_first, 1}}), .read = constant({{1, 1}})};
  }
  StackForm stack() const {
    return {.lanes = 2,
            .norms = input_norm ? Points{Point::lane, Point::stack} : Points{Point::lane}};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("damped", &SiameseNorm::damped,
              "whether o counts 1 / sqrt(2 l) in x', l the block, as in the authors' code"),
        field("input_norm", &SiameseNorm::input_norm,
              "whether a norm stands on every sum x + norm(y), as in the authors' code"));
  }
  bool operator==(const SiameseNorm&) const = default;
};

/// Lane 0 holds the embedding, lane i the sum of what the connections of block i gave. A connection
/// reads a mean of those that are there already, each row by its own weights.
struct AttentionResiduals {
  static constexpr KindInfo info{"attention_residuals",
                                 "f(norm(sum_i p_i v_i)), p = softmax(w norm(v_i))",
                                 "Kimi team 2026, arXiv:2603.15031"};
  int64_t blocks = 8;

  ResidualForm form(const ResidualSite& site) const {
    const double never = -std::numeric_limits<double>::infinity();
    std::vector<double> start(blocks + 1, never), write(blocks + 1, 0);
    const int64_t last = site.index == 0 ? 0 : lane_of(site.index - 1, site.count);
    std::fill_n(start.begin(), last + 1, 0);
    write[lane_of(site.index, site.count)] = 1;
    return {.norms = {Point::read},
            .branch = constant(std::move(write)),
            .read = {.start = std::move(start), .gate = softmax}};
  }
  // A lane that a short stack leaves at 0 takes a share of the mean, which the norm gives back.
  StackForm stack() const {
    std::vector<double> enter(blocks + 1, 0);
    enter.front() = 1;
    return {.lanes = static_cast<int>(blocks) + 1,
            .norms = {Point::stack},
            .enter = std::move(enter),
            .leave = std::vector<double>(blocks + 1, 0),
            .leave_gate = softmax};
  }
  static constexpr auto fields() {
    return std::make_tuple(field(
        "blocks", &AttentionResiduals::blocks,
        "equal parts of a stack whose connections are summed; as many as connections: none are",
        Bounds{.low = 1, .high = 1000}));
  }
  bool operator==(const AttentionResiduals&) const = default;

 private:
  static constexpr Gate softmax{.outer = GateMap::softmax, .scale = 0};

  int64_t lane_of(int64_t index, int64_t count) const {
    return index * std::min(blocks, count) / count + 1;
  }
};

using LaneSchemes = std::variant<BottomToTop, ResiDual, SiameseNorm, AttentionResiduals>;

}  // namespace ballast
