#pragma once

#include <cmath>

#include "ballast/base/parameter.h"

namespace ballast {

/// The factor of the original Transformer (Vaswani et al. 2017) at a point: 1/sqrt(K) of the logits
/// of an attention, sqrt(d) of a token's embedding, else 1. A module has it until a
/// parameterisation says otherwise.
inline double standard_factor(const FactorFacts& facts) {
  const double root = std::sqrt(static_cast<double>(facts.width));
  switch (facts.point) {
    case Point::scores:
      return 1 / root;
    case Point::token:
      return root;
    default:
      return 1;
  }
}

}  // namespace ballast
