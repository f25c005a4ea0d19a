#pragma once

#include <array>
#include <cstdint>

#include "ballast/loops/drop_row.h"
#include "ballast/loops/norm_spec.h"

namespace ballast {

/// A norm with its parameters as the loops need them.
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

/// See `ResidualInputs`.
struct ResidualView {
  int64_t rows, d;
  const float* shortcut;  ///< null in a backward pass that needs no values of it
  const float* branch;    ///< likewise, or the form is N_out(a * x)
  FactorView shortcut_factor, branch_factor;
  DropRow drop;
  NormView norm_mid, norm_out;
};

/// Sums over rows that the parameters' gradients need, each [d].
enum class RowSum { gain_mid, bias_mid, shortcut_factor, branch_factor, gain_out, bias_out };
constexpr int64_t row_sums = 6;

/// The result [rows, d], and of the outer norm what a row of the result does not tell: the inverse
/// of its divisor and how far that follows the row, [rows, 2].
struct ResidualResult {
  float* out = nullptr;
  float* slopes = nullptr;
};

struct ResidualGradient {
  const float* out;                     ///< of the result
  float *shortcut, *branch;             ///< of the inputs; branch null where there is none
  bool shortcut_factor, branch_factor;  ///< whether the sums of these are wanted
};

/// Rows [begin, end) of the result.
void join_rows(const ResidualView& view, int64_t begin, int64_t end, const ResidualResult& result);

/// Rows [begin, end) of the inputs' gradients; adds the sums of these rows to `sums` [row_sums, d].
/// Walks through the form again, from the inputs, where there is nothing to recall. Else it takes
/// the normalised rows from the result, whose outer norm must be `invertible`.
void join_rows_backward(const ResidualView& view, const ResidualResult* recalled,
                        const ResidualGradient& gradient, int64_t begin, int64_t end, float* sums);

/// Whether the normalised row can be had from the normed one with an error of a few roundings: each
/// gain is far from 0, and no bias is larger, which would drown its digits.
bool invertible(const NormView& norm, int64_t d);

}  // namespace ballast
