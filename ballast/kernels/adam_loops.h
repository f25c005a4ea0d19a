#pragma once

#include <cstdint>

#include "ballast/kernels/adam.h"

namespace ballast {

/// Contiguous arrays of one length, see `AdamTensors`.
struct AdamArrays {
  float* value;
  const float* gradient;  ///< null: zero
  float *first_moment, *second_moment;
  AdamUpdate update;
};

/// Updates elements [begin, end).
void adam_range(const AdamArrays& arrays, int64_t begin, int64_t end);

/// Sum of squares in float64, which holds the square of every float32.
double squares_of_range(const float* values, int64_t begin, int64_t end);

}  // namespace ballast
