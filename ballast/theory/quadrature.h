#pragma once

#include <functional>
#include <vector>

namespace ballast {

using RealFunction = std::function<double(double)>;

/// The integral of f over the finite [low, high], by tanh-sinh quadrature with as many nodes as it
/// takes: f has to be smooth inside, whatever it does at the ends. Right to about 1e-15 of the
/// integral of |f|; a sum that is no more than the rounding of its terms is 0.
double integral(const RealFunction& f, double low, double high);

/// E f(x) for x from N(0, std^2), as accurate; f is smooth but at 0 and at the other `kinks`.
double normal_expectation(const RealFunction& f, double std = 1,
                          const std::vector<double>& kinks = {});

}  // namespace ballast
