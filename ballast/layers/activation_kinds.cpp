#include "ballast/layers/activation_kinds.h"

#include <cmath>

#include "ballast/kernels/activation_moments.h"

namespace ballast {

Activation normalized(Activation activation, Normalize normalize) {
  if (normalize == Normalize::none) return activation;
  const ActivationMoments moments = moments_of(activation);
  if (normalize == Normalize::second_moment) {
    activation.scale = 1 / std::sqrt(moments.second);
  } else {
    activation.scale = 1 / std::sqrt(moments.variance);
    if (moments.mean != 0) activation.shift = -moments.mean * activation.scale;
  }
  return activation;
}

}  // namespace ballast
