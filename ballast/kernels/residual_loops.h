#pragma once

#include <array>
#include <cstdint>

#include "ballast/kernels/drop_row.h"
#include "ballast/kernels/norm.h"

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
};

/// See `ResidualInputs`.
struct ResidualView {
  int64_t rows, d;
  const float* shortcut;
  const float* branch;  ///< null: the form is N_out(a * x)
  FactorView shortcut_factor, branch_factor;
  DropRow drop;
  NormView norm_mid, norm_out;
};

/// Sums over rows that the parameters' gradients need, each [d].
enum class RowSum { gain_mid, bias_mid, shortcut_factor, branch_factor, gain_out, bias_out };
constexpr int64_t row_sums = 6;

struct ResidualGradient {
  const float* out;          ///< of the result
  float *shortcut, *branch;  ///< of the inputs; branch null where there is none
};

/// Rows [begin, end) of the result.
void join_rows(const ResidualView& view, int64_t begin, int64_t end, float* out);

/// Rows [begin, end) of the inputs' gradients; adds the sums of these rows to `sums` [row_sums, d].
void join_rows_backward(const ResidualView& view, const ResidualGradient& gradient, int64_t begin,
                        int64_t end, float* sums);

}  // namespace ballast
