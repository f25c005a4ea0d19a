#pragma once

#include <torch/types.h>

#include "ballast/layers/linear.h"
#include "ballast/layers/pointed.h"
#include "ballast/norm/norm.h"

namespace ballast {

// What a fold composes: maps of rows in float64, which change the matrix before or behind them.

/// Values in float64, on the CPU, without autograd.
torch::Tensor wide(const torch::Tensor& tensor);

/// x to scale * x + shift, [] or [width] each; undefined: 1 and 0.
struct Affine {
  torch::Tensor scale, shift;

  /// First this, then `next`.
  Affine then(const Affine& next) const;
};

/// Multiplies by `scale`; the identity where that is 1.
Affine times(const torch::Tensor& scale);

/// A norm with running statistics, as it is in evaluation.
Affine fixed(const Norm& norm);

/// A product and what it adds, in float64: W [m, n], b [m].
class Dense {
 public:
  /// With the form and the multiplier of the layer's weight in W.
  explicit Dense(const Linear& layer);

  /// W (map(x)) + b as a product of x.
  Dense& reads(const Affine& map);
  /// map(W x + b).
  Dense& gives(const Affine& map);

  void store(Linear& plain) const;

 private:
  torch::Tensor weight_, bias_;
};

/// Whether a norm stands at the point that is no fixed map in evaluation, so that it stays.
bool keeps_norm(const Pointed& module, Point point);

/// What stands at a point, behind the norm that stays.
Affine map_at(const Pointed& module, Point point);

/// Values of a norm, followed by a map: its gain and bias take that on. RecipeError where it has no
/// gain to do so.
void store_norm(const Norm& norm, const Affine& behind, Norm& plain);

/// The point, and `behind` after it, as a map of the matrix before or behind it; nothing is left of
/// it where the norm of the plain module takes it on.
Affine folded_point(const Pointed& module, const Pointed& plain, Point point,
                    const Affine& behind = {});

}  // namespace ballast
