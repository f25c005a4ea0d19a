#pragma once

#include <cstdint>

namespace ballast {

/// y = x W^T for a few rows of x: contiguous x [rows, in], W [out, in], y [rows, out]. uint16_t
/// stands for bfloat16.
template <class T>
struct FewRows {
  int64_t rows, in, out;
  const T *x, *weight;
  float* y;
};

/// Reads W once from memory, on all of libtorch's threads. Every element of y is one float32 sum in
/// an order that depends on `in` and the instruction set alone, so a row has the bits that it would
/// have alone, for any number of threads. Products of bfloat16 are exact in float32.
void multiply_few_rows(const FewRows<float>& call);
void multiply_few_rows(const FewRows<uint16_t>& call);

}  // namespace ballast
