#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/data/packed_batch.h"
#include "ballast/model/transformer.h"
#include "ballast/values/plan.h"

namespace ballast {

// The coordinate check (Yang et al. 2022, arXiv:2203.03466, appendix D.1; microsoft/mup): models of
// several sizes make a few updates each, and what their activations have come to is compared. Where
// a learning rate is to fit every size, no activation may change by more or less in a larger model.

/// Where an activation is looked at, so that models of any depth have the same places.
struct CoordinatePlace {
  enum class Block { first, last };

  Point point = Point::stream;
  Stack stack = Stack::decoder;
  std::optional<Sublayer> sublayer = {};  ///< of a connection; absent behind the blocks
  Block block = Block::last;              ///< of a stack of one block, both are that one

  /// decoder.last.feed_forward.hidden, decoder.stack, logits.
  std::string name() const;
  bool operator==(const CoordinatePlace&) const = default;
};

/// Root mean square of an activation over the rows and features of a batch, and of its difference
/// from what it was at first: after 0, 1, ... updates.
struct Coordinate {
  CoordinatePlace place;
  std::vector<double> size, change;
};

/// One model, in the order of its forward pass.
using Coordinates = std::vector<Coordinate>;

/// A model at its first updates.
struct FirstUpdates {
  std::shared_ptr<Transformer> model;  ///< with its values; it is trained
  Plan plan;                           ///< of the model
  OptimizerChoice optimizer = {};
  double lr = 1e-3;      ///< of each update
  double clip_norm = 0;  ///< largest gradient norm per token; 0: no clipping
  CrossEntropyOptions loss = {};
  int64_t steps = 4;
  std::function<Batch()> next;  ///< the batch of an update
  Batch probe;                  ///< on which activations are measured, in evaluation mode
};

/// Makes the updates and measures before, between and after them: queries, heads and `hidden` of
/// the branches, `branch` and `stream` of the connections, in the first and last block of each
/// stack, what leaves the stack, and the logits. DivergenceError for a gradient that is not finite.
Coordinates first_coordinates(const FirstUpdates& updates);

/// The power a in size ~ scale^a of one place, after 0, 1, ... updates, by least squares of the
/// logarithms; NaN where a size is 0, as every change is before the first update.
struct CoordinateSlope {
  CoordinatePlace place;
  std::vector<double> size, change;
};

/// `scales`, widths or depths, with the coordinates of a model of each; a scale may occur more than
/// once. All models have the same places.
std::vector<CoordinateSlope> coordinate_slopes(std::span<const double> scales,
                                               std::span<const Coordinates> models);

/// What a slope means; `still`, for NaN: some model does not change at all.
enum class Trend { flat, grows, vanishes, still };

/// Flat: within the tolerance of 0.
Trend trend_of(double slope, double tolerance);

template <>
struct EnumNames<Trend> {
  static constexpr std::array<std::pair<std::string_view, Trend>, 4> value{
      {{"flat", Trend::flat},
       {"grows", Trend::grows},
       {"vanishes", Trend::vanishes},
       {"still", Trend::still}}};
};

}  // namespace ballast
