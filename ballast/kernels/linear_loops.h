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

/// z = multiplier * z + bias in place, y = activation(z); y may be z.
void finish_product(const Epilogue& epilogue, float* z, float* y);

/// gradient * activation'(z), where `saved` is z or y, see `derivative_from_output`; into `out`.
void activation_gradient(const Epilogue& epilogue, const float* gradient, const float* saved,
                         float* out);

}  // namespace ballast
