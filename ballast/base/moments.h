#pragma once

#include <torch/types.h>

namespace ballast {

/// Mean and second moment of all elements of a tensor, summed in float64.
struct Moments {
  double mean = 0;
  double second = 0;  ///< E[x^2]

  /// Population variance (divided by n).
  double variance() const { return second - mean * mean; }
};

/// Moments over all elements; {0, 0} for an empty tensor. The variance is exact also for a large
/// common offset, since the sum runs over float64.
Moments moments(const torch::Tensor& values);

}  // namespace ballast
