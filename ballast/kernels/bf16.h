#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string_view>

#include "ballast/base/made_from.h"
#include "ballast/base/precision.h"

namespace ballast {

/// x in bfloat16, contiguous: each element to the nearest, of two equally near ones to the even
/// one. Infinities, NaN and denormals stay what they are. No gradient.
torch::Tensor rounded(const torch::Tensor& x);

inline bool is_bf16(const torch::Tensor& x) { return x.scalar_type() == torch::kBFloat16; }

/// The elements of a bfloat16 tensor on the CPU, for a loop.
uint16_t* bf16_data(const torch::Tensor& x);

/// True where this processor has instructions for bfloat16 products (avx512_bf16, amx_bf16) and
/// oneDNN may use them. Elsewhere the same products are computed in float32, which is slower than
/// to ask for float32.
bool bf16_is_fast();

/// Throws RecipeError when `option` (a dotted name) asks for a precision that would be slow on this
/// device.
void refuse_slow_precision(std::string_view option, Precision precision, torch::Device device);

/// The bfloat16 copy of one weight, made anew when the weight has changed: once per step.
class Bf16Copy {
 public:
  torch::Tensor of(const torch::Tensor& weight) {
    return copy_.get({weight}, [&] { return rounded(weight); });
  }

 private:
  MadeFrom copy_;
};

}  // namespace ballast
