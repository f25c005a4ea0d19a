#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ballast/base/point.h"

namespace ballast {

/// A number, or numbers between lanes, row by row.
class Grid {
 public:
  constexpr Grid(double value = 1) : number_(value) {}  // NOLINT: a number is a grid of one
  /// One number a lane.
  Grid(std::vector<double> values)  // NOLINT: a list of numbers is a grid of one row
      : Grid(1, std::move(values)) {}
  Grid(int rows, std::vector<double> values)
      : number_(values.front()),
        rows_(rows),
        columns_(static_cast<int>(values.size()) / rows),
        values_(std::move(values)) {
    if (values_.size() == 1) values_.clear();
  }

  bool is_number() const { return values_.empty(); }
  double number() const { return number_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  double at(int row, int column) const {
    return is_number() ? number_ : values_[row * columns_ + column];
  }
  /// Row by row.
  std::vector<double> values() const { return is_number() ? std::vector{number_} : values_; }

  bool operator==(const Grid&) const = default;

 private:
  double number_ = 1;  // the first
  int rows_ = 1, columns_ = 1;
  std::vector<double> values_;  // empty for a number, which so asks for no memory
};

/// How many numbers a trained factor has: one, one a head, one a feature.
enum class Extent { one, heads, features };

/// Whose parameter a trained coefficient is; those of one layer share it.
enum class Owner { connection, layer };

/// What a gate puts its numbers through; the last three see all numbers of a row at once.
enum class GateMap {
  identity,
  tanh,
  sigmoid,
  twice_sigmoid,
  softmax,            ///< over the lanes that are read
  doubly_stochastic,  ///< of exponentials, by Sinkhorn's iteration
  permutations        ///< softmax over the n! ways to permute n lanes, whose mean it gives
};

/// Makes coefficients between lanes depend on the stream, row by row:
///
///     outer( start + scale * inner( W norm(x) ) )
///
/// with W trained from 0 and scale trained. Norm has no parameters.
struct Gate {
  GateMap inner = GateMap::identity, outer = GateMap::identity;
  double scale = 0.01;     ///< where it starts; 0: there is none, W acts as it is
  bool center = false;     ///< whether the norm takes the mean away
  bool all_lanes = false;  ///< W reads all lanes end to end; else each lane brings out its own part

  bool operator==(const Gate&) const = default;
};

/// A factor of the forward pass: what acts is the number of `start`, or the parameter that began
/// there, times the ramp, times the factor of table two.
struct Coefficient {
  Grid start = 1;         ///< the constant, or the value before training
  bool trained = false;   ///< a parameter
  bool profiled = false;  ///< measured by `calibrate`; `start` until then
  bool decays = false;    ///< whether weight decay acts on the parameter
  Extent extent = Extent::one;
  Owner owner = Owner::connection;
  double ramp_steps = 0;          ///< above 0: times min(1, step / ramp_steps)
  std::optional<Gate> gate = {};  ///< between lanes

  bool operator==(const Coefficient&) const = default;
};

/// A fixed number, or fixed numbers between lanes.
inline Coefficient constant(Grid value) { return {.start = std::move(value)}; }

/// A trained scalar that starts at `value`, or a number for each pair of lanes.
inline Coefficient trained_scalar(Grid value) {
  return {.start = std::move(value), .trained = true};
}

/// A trained vector [d] that starts at `value` everywhere.
inline Coefficient trained_vector(double value) {
  return {.start = value, .trained = true, .extent = Extent::features};
}

/// A trained number per head that starts at `value` everywhere.
inline Coefficient trained_per_head(double value) {
  return {.start = value, .trained = true, .extent = Extent::heads};
}

/// Grows linearly from 0 before the first update to 1 after `steps` updates.
inline Coefficient ramp(double steps) { return {.ramp_steps = steps}; }

/// A factor that stands at a point.
struct PointFactor {
  Point point = Point::branch;
  Coefficient factor;

  bool operator==(const PointFactor&) const = default;
};

}  // namespace ballast
