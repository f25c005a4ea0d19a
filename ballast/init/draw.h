#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"

namespace ballast {

/// What values are drawn from; `constant` is no draw at all.
enum class Distribution { normal, uniform, truncated_normal, orthogonal, constant };

/// Those of independent entries, which a recipe can name.
template <>
struct EnumNames<Distribution> {
  static constexpr std::array<std::pair<std::string_view, Distribution>, 3> value{
      {{"normal", Distribution::normal},
       {"uniform", Distribution::uniform},
       {"truncated_normal", Distribution::truncated_normal}}};
};

/// Which blocks of a matrix are the negatives of others: [W; -W], [W, -W], or [W, -W; -W, W], where
/// the rows before a function and the columns after it make of f(x) the odd f(x) - f(-x).
enum class Mirror { none, rows, columns, both };

constexpr int64_t row_blocks(Mirror mirror) {
  return mirror == Mirror::rows || mirror == Mirror::both ? 2 : 1;
}
constexpr int64_t column_blocks(Mirror mirror) {
  return mirror == Mirror::columns || mirror == Mirror::both ? 2 : 1;
}

/// How to fill a tensor. `std` is that of the values drawn, whatever the distribution: a truncated
/// normal is widened so that it keeps the std asked for (whoever wants the smaller one of an
/// uncorrected cut asks for it, see `gaussian`), and an orthogonal matrix has no mean.
struct Draw {
  Distribution distribution = Distribution::constant;
  double std = 0;
  double mean = 0;
  int64_t stacked = 1;  ///< orthogonal or mirrored: matrices below each other, each drawn by itself
  std::vector<double> values = {};  ///< constant: the elements one by one, in place of `mean`
  double cut = 2;  ///< truncated normal: +-cut standard deviations of the normal it comes from
  Mirror mirror = Mirror::none;

  /// Whether all tensors of a shape are filled alike.
  bool is_constant() const { return distribution == Distribution::constant || std == 0; }
};

/// A float64 tensor of the shape on the CPU, with values that depend on (key, shape, draw) alone:
/// not on the number of threads, nor on what was drawn before.
///
/// An orthogonal matrix has entries of the std asked for: rows or columns, whichever are fewer, are
/// orthogonal, of each of the stacked matrices: Q of a Gaussian matrix, with the signs of R's
/// diagonal (Mezzadri 2007, arXiv:math-ph/0609050). c10::Error for an orthogonal or mirrored draw
/// that is not [rows, columns]; RecipeError where `refusal_of` (`init/rule.h`) has something to
/// say.
torch::Tensor drawn(const Draw& draw, at::IntArrayRef shape, uint64_t key);

}  // namespace ballast
