#pragma once

#include <torch/types.h>

#include <cstdint>

namespace ballast {

/// Which elements dropout removes: a function of the key and the element's place, so that no mask
/// is stored and none depends on the number of threads.
struct DropMask {
  double p = 0;  ///< probability of removal, in [0, 1)
  uint64_t key = 0;

  bool active() const { return p > 0; }
};

/// Random words are compared with this: an element is removed when its word is below p 2^32.
uint32_t drop_threshold(double p);

/// The factors 0 or 1/(1-p) for `rows` x `columns` elements, in `like`'s type and device.
///
/// Element (r, c) reads word c % 4 of Philox(key, counter_low = c / 4, counter_high = r).
torch::Tensor drop_factors(DropMask mask, int64_t rows, int64_t columns, const torch::Tensor& like);

/// Inverted dropout of x [rows, columns]: x times `drop_factors`; x itself when p = 0.
torch::Tensor dropout(const torch::Tensor& x, DropMask mask);

/// The ATen version, for any device and for second derivatives.
torch::Tensor dropout_reference(const torch::Tensor& x, DropMask mask);

}  // namespace ballast
