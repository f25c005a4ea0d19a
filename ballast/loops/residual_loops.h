#pragma once

#include <array>
#include <cstdint>

#include "ballast/loops/drop_row.h"
#include "ballast/loops/norm_spec.h"

namespace ballast {

/// A norm with its parameters as the loops need them; where it is not `present`, rows pass as they
/// are.
struct NormView {
  bool present = false;
  NormSpec spec;
  const float *gain = nullptr, *bias = nullptr;  ///< [d] or null
};

/// A factor: a number, or a vector [d].
struct FactorView {
  float constant = 1;
  const float* vector = nullptr;

  bool is_one() const { return vector == nullptr && constant == 1; }
};

/// The call N_out(a x + b N_mid(drop(f))) of `ResidualInputs`; shortcut x and branch f are
/// contiguous float32 [rows, d].
struct ResidualView {
  int64_t rows, d;
  const float* shortcut;  ///< null in a backward pass that needs no values of it
  const float* branch;    ///< likewise, or the form is N_out(a * x)
  FactorView shortcut_factor, branch_factor;  ///< a, b
  DropRow drop;
  NormView norm_mid, norm_out;
};

/// Sums over rows that the parameters' gradients need, each [d].
enum class RowSum { gain_mid, bias_mid, shortcut_factor, branch_factor, gain_out, bias_out };
constexpr int64_t row_sums = 6;

/// The result [rows, d], and of the outer norm what a row of the result does not tell, [rows, 2]:
/// the inverse of its divisor and how far that follows the row (`pull` in norm_inl.h).
struct ResidualResult {
  float* out = nullptr;
  float* slopes = nullptr;  ///< null where there is no outer norm
};

/// Gradients [rows, d], contiguous, none overlapping another.
struct ResidualGradient {
  const float* out;                     ///< of the result
  float *shortcut, *branch;             ///< of the inputs; branch null where there is none
  bool shortcut_factor, branch_factor;  ///< whether the sums of these are wanted
};

/// Rows [begin, end) of the result and its slopes. No row depends on another, so threads may share
/// them out; statistics in float32 over blocks, in float64 over these.
void join_rows(const ResidualView& view, int64_t begin, int64_t end, const ResidualResult& result);

/// Rows [begin, end) of the inputs' gradients; adds the sums of these rows to `sums` [row_sums, d],
/// in float32 and in their order: give each range that runs at the same time sums of its own. Sums
/// of factors and parameters that are absent or not wanted stay what they were.
///
/// Walks through the form again, from the inputs, where there is nothing to recall (`recalled`
/// null). Else it takes the normalised rows from the result, whose outer norm must be `invertible`;
/// there must be no inner norm then and no sum of the branch factor, for the branch is not seen
/// again.
void join_rows_backward(const ResidualView& view, const ResidualResult* recalled,
                        const ResidualGradient& gradient, int64_t begin, int64_t end, float* sums);

/// Whether the normalised row can be had from the normed one with an error of a few roundings: each
/// gain is far from 0 (1e-20 at least), and no bias is larger, which would drown its digits.
bool invertible(const NormView& norm, int64_t d);

}  // namespace ballast
