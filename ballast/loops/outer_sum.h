#pragma once

#include <cstdint>

namespace ballast {

/// out = scale * left^T right, or out += it: the gradient of a weight, summed over the rows
/// (tokens). All matrices are contiguous float32; `out` and `left_sums` may overlap neither each
/// other nor the operands.
///
/// oneDNN's product of this layout runs at half speed on AVX2 when a side of `out` is short. With
/// AVX-512 it is up to a quarter faster than this for most shapes and half as fast for some (4096
/// rows, 768 x 3072); it leaves the sums over rows to a pass of their own.
struct OuterSum {
  const float* left;   ///< [rows, left_columns]
  const float* right;  ///< [rows, right_columns]
  int64_t rows, left_columns, right_columns;
  float* out;                  ///< [left_columns, right_columns]
  float* left_sums = nullptr;  ///< [left_columns] += the sums over rows of left, when not null
  float scale = 1;             ///< of `out`, not of `left_sums`
  bool add = false;            ///< out +=, else out is overwritten
};

/// On libtorch's threads. Each sum runs in float32 over the rows in their order, so the result
/// depends on no number of threads. With no rows `out` is 0, or what it was.
void outer_sum(const OuterSum& sum);

}  // namespace ballast
