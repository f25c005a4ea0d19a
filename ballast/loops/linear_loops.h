#pragma once

#include <cstdint>

#include "ballast/loops/activation.h"

namespace ballast {

/// Rows of a product on their way through multiplier, bias and activation.
struct Epilogue {
  int64_t rows, columns;  ///< of y; z has `activation.arguments()` times the columns
  const float* bias;      ///< [columns of z] or null
  float multiplier;
  Activation activation;
};

/// Whether there is a loop for it; the others are ATen's.
bool has_loop(const Activation& activation);

/// True when the derivative is taken from the activation's result, not from its argument.
bool derivative_from_output(const Activation& activation);

/// z = multiplier * z + bias in place, y = activation(z); y may be z unless that is a pair.
/// Computed in float32; uint16_t stands for bfloat16.
void finish_product(const Epilogue& epilogue, float* z, float* y);
void finish_product(const Epilogue& epilogue, uint16_t* z, uint16_t* y);

/// The gradient by y on its way to the one by z; uint16_t stands for bfloat16.
template <class T, class Out>
struct GradientRows {
  int64_t rows, columns;  ///< of y
  Activation activation;
  const T *gradient, *saved;  ///< `saved` is z or y, see `derivative_from_output`; null: identity
  Out* out;                   ///< gradient * activation'(z), shaped as z
  float* sums = nullptr;      ///< [columns of z] += the sums of the same before rounding, or null
};

/// One pass, whose sums depend on no number of threads.
void activation_gradient(const GradientRows<float, float>& call);
void activation_gradient(const GradientRows<float, uint16_t>& call);
void activation_gradient(const GradientRows<uint16_t, uint16_t>& call);

}  // namespace ballast
