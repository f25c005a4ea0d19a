#pragma once

#include <vector>

#include "ballast/theory/quadrature.h"

namespace ballast {

/// A function of single elements, as far as its moments see it.
struct ScalarFunction {
  RealFunction value, slope;
  std::vector<double> kinks = {};  ///< besides 0, where every function may bend or jump
};

/// Of a function f under an input from N(0, std^2).
struct ActivationMoments {
  double mean = 0;      ///< E f
  double second = 0;    ///< E f^2: 1/fan_in over it is the variance that keeps a second moment
  double variance = 0;  ///< E (f - E f)^2
  double slope_second =
      0;  ///< E f'^2, of a pair the sum for both arguments: what a gradient grows by
};

/// By quadrature, right to about 1e-15. Of relu under N(0, 1): 0.39894, 1/2, 0.34085, 1/2.
ActivationMoments activation_moments(const ScalarFunction& f, double std = 1);

/// Those of f(g) u for independent g and u from N(0, std^2), from those of f: mean 0, E f^2 E u^2,
/// and E f'^2 E u^2 + E f^2 for the slopes by g and by u.
ActivationMoments gated_moments(const ActivationMoments& of_f, double std = 1);

/// Those of scale f + shift.
ActivationMoments affine_moments(const ActivationMoments& of_f, double scale, double shift);

/// Of f(x) = lambda x, or lambda alpha (e^x - 1) below 0.
struct SeluConstants {
  double alpha = 0, lambda = 0;
};

/// The two with which N(0, std^2) is a fixed point: E f = 0 and E f^2 = std^2. For std = 1 those of
/// Klambauer et al. 2017, arXiv:1706.02515: 1.6732632 and 1.0507010.
SeluConstants selu_constants(double std = 1);

}  // namespace ballast
