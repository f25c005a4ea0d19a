#pragma once

#include <torch/types.h>

#include <cstdint>

#include "ballast/loops/drop_row.h"

namespace ballast {

/// The factors 0 or 1/(1-p) for `rows` x `columns` elements, in `like`'s type and device.
///
/// Element (r, c) reads word c % 4 of Philox(key, counter_low = c / 4, counter_high = r).
torch::Tensor drop_factors(DropMask mask, int64_t rows, int64_t columns, const torch::Tensor& like);

/// Inverted dropout of x [rows, columns]: x times `drop_factors`; x itself when p = 0.
torch::Tensor dropout(const torch::Tensor& x, DropMask mask);

/// The ATen version, for any device and for second derivatives.
torch::Tensor dropout_reference(const torch::Tensor& x, DropMask mask);

}  // namespace ballast
