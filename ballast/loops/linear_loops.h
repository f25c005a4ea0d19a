#pragma once

#include <cstdint>

#include "ballast/loops/activation.h"

namespace ballast {

/// Rows of a product on their way through multiplier, bias and activation. Arrays are contiguous
/// [rows, columns], of any alignment; a gated z holds in each row the columns of g, then those of
/// u.
struct Epilogue {
  int64_t rows, columns;  ///< of y; z has `activation.arguments()` times the columns
  const float* bias;      ///< [columns of z] or null
  float multiplier;       ///< of the product, not of the bias
  Activation activation;
};

/// Whether there is a loop for it; the others are ATen's.
bool has_loop(const Activation& activation);

/// True when the derivative is taken from the activation's result, not from its argument: of a
/// relu that is not gated. Then z need not be kept, and y may take its place.
bool derivative_from_output(const Activation& activation);

/// z = multiplier * z + bias in place, y = activation(z); y may be z unless that is a pair.
/// Computed in float32, y from the z that is not rounded yet; uint16_t stands for bfloat16. Only
/// for an activation that `has_loop`: for others nothing is written. Runs on libtorch's threads.
void finish_product(const Epilogue& epilogue, float* z, float* y);
void finish_product(const Epilogue& epilogue, uint16_t* z, uint16_t* y);

/// The gradient by y on its way to the one by z; uint16_t stands for bfloat16. Arrays are
/// contiguous, and `out` may overlap none of the others.
template <class T, class Out>
struct GradientRows {
  int64_t rows, columns;  ///< of y
  Activation activation;
  const T *gradient, *saved;  ///< `saved` is z or y, see `derivative_from_output`; null: identity
  Out* out;                   ///< gradient * activation'(z), shaped as z
  float* sums = nullptr;      ///< [columns of z] += the sums of the same before rounding, or null
};

/// One pass, whose sums depend on no number of threads: blocks of rows whose borders follow from
/// `rows` alone are summed in float32 and added in order. Only for an activation that `has_loop`.
void activation_gradient(const GradientRows<float, float>& call);
void activation_gradient(const GradientRows<float, uint16_t>& call);
void activation_gradient(const GradientRows<uint16_t, uint16_t>& call);

}  // namespace ballast
