#pragma once

#include "ballast/loops/activation.h"
#include "ballast/theory/activation_moments.h"

namespace ballast {

/// Of the whole activation, for an argument from N(0, std^2); those of a pair are independent.
ActivationMoments moments_of(const Activation& activation, double std = 1);

}  // namespace ballast
