#pragma once

#include "ballast/base/parameter.h"
#include "ballast/base/update_size.h"

namespace ballast {

/// Where the scale of a weight lives: the numbers that model, initialiser and optimizer read.
struct Scaling {
  double multiplier = 1;   ///< of the forward pass
  double init_std = 1;     ///< of the stored values
  double lr_scale = 1;     ///< of the learning rate
  double decay_scale = 1;  ///< of the weight decay, which `lr_scale` multiplies too
  /// Of what an optimizer adds to the root of an element's mean square: it has the gradient's
  /// units.
  double epsilon_scale = 1;

  bool operator==(const Scaling&) const = default;
};

}  // namespace ballast
