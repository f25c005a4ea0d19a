#include "ballast/kernels/activation_moments.h"

#include "ballast/loops/elementwise.h"

namespace ballast {

ActivationMoments moments_of(const Activation& activation, double std) {
  const ElementwiseInfo& info = info_of(activation.function);
  const double a = activation.parameter;
  const ScalarFunction f{[&](double x) { return info.value(x, a); },
                         [&](double x) { return info.slope(x, a); }};
  ActivationMoments found = activation_moments(f, std);
  if (activation.gated) found = gated_moments(found, std);
  return affine_moments(found, activation.scale, activation.shift);
}

}  // namespace ballast
