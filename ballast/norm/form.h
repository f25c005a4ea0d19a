#pragma once

#include <cstdint>

#include "ballast/kernels/norm.h"

namespace ballast {

/// Features of a row, and heads among which they are divided; 1 where there are none.
struct RowShape {
  int64_t width = 1, heads = 1;
};

/// Whose values share statistics: one row's, those of all rows of a sequence, of a whole batch.
enum class Over { row, sequence, batch };

/// What acts on single elements in place of a division.
enum class Pointwise { none, tanh, erf };

/// How many numbers a gain has: none, one, one a feature of a group (all groups share them), one a
/// feature.
enum class GainExtent { none, one, group, features };

/// How rows x [N, d] are normalised:
///
///     y = gain * scale * (x - mean) / divisor + bias
///
/// with statistics over one of the `groups` of features, within what `over` says: the mean (or 0),
/// the divisor by `placement` from the second moment around it, not corrected for bias, and scale
/// 1, or 1/sqrt(features of a group) with `to_length`. With a function there are no statistics: y =
/// gain * function(alpha x + shift) + bias. A kind of norm is a function to this and nothing else.
/// The defaults are layer norm (Ba et al. 2016, arXiv:1607.06450).
struct NormForm {
  static constexpr int64_t each_feature = 0, each_head = -1;

  Over over = Over::row;
  int64_t groups =
      1;  ///< equal parts of the features; `each_feature` and `each_head` are counts too
  bool center = true;  ///< whether the mean is taken away; else it counts as 0
  double eps = 1e-5;   ///< with `to_length`, of the length or of its square, and so for any width
  EpsPlacement placement = EpsPlacement::inside_root;
  /// A group is brought to length 1, not to a second moment of 1. A gain then starts at the root of
  /// the group's features, so that the module starts as it would without.
  bool to_length = false;

  /// Share of a batch's statistics in the running ones, which act in evaluation; 0: there are none.
  double running_share = 0;

  Pointwise function = Pointwise::none;
  double alpha = 0.5;    ///< where the trained alpha starts
  bool shifted = false;  ///< whether there is a trained shift, from 0

  GainExtent gain = GainExtent::features;
  bool one_plus_gain = false;  ///< kept less 1, so that decay draws it to 1 and not to 0
  bool bias = true;

  /// Whether a row's result depends on no other row, in training as in evaluation.
  constexpr bool is_row_wise() const { return over == Over::row; }

  /// Statistics per row of that shape.
  constexpr int64_t groups_of(const RowShape& shape) const {
    if (groups == each_feature) return shape.width;
    return groups == each_head ? shape.heads : groups;
  }

  bool operator==(const NormForm&) const = default;
};

/// The same norm of each head by itself: all heads share a gain [K], and there is no bias.
constexpr NormForm of_each_head(NormForm form) {
  form.groups = NormForm::each_head;
  if (form.gain == GainExtent::features) form.gain = GainExtent::group;
  form.bias = false;
  return form;
}

}  // namespace ballast
