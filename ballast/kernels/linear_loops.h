#pragma once

#include <cstdint>

#include "ballast/kernels/linear.h"

namespace ballast {

/// Rows of a product on their way through multiplier, bias and activation.
struct Epilogue {
  int64_t rows, columns;
  const float* bias;  ///< [columns] or null
  float multiplier;
  Activation activation;
};

/// True when the derivative is taken from the activation's result, not from its argument.
bool derivative_from_output(Activation activation);

/// z = multiplier * z + bias in place, y = activation(z); y may be z. Computed in float32.
void finish_product(const Epilogue& epilogue, float* z, float* y);
void finish_product(const Epilogue& epilogue, uint16_t* z, uint16_t* y);

/// gradient * activation'(z), where `saved` is z or y, see `derivative_from_output`; into `out`.
void activation_gradient(const Epilogue& epilogue, const float* gradient, const float* saved,
                         float* out);

/// The gradient of a result on its way to the operand of two products; T is float, or uint16_t for
/// bfloat16.
template <class T>
struct GradientRows {
  int64_t rows, columns;
  Activation activation;
  const T *gradient, *saved;  ///< `saved` as for `activation_gradient`, null for the identity
  uint16_t* out;              ///< gradient * activation'(z) in bfloat16
  float* sums;                ///< [columns] += the sums of the same before rounding, when not null
};

/// One pass, whose sums depend on no number of threads.
void narrow_gradient(const GradientRows<float>& call);
void narrow_gradient(const GradientRows<uint16_t>& call);

}  // namespace ballast
