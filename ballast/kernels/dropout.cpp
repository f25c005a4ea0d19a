#include "ballast/kernels/dropout.h"

#include <torch/autograd.h>

#include <array>

#include "ballast/kernels/held.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"
#include "ballast/loops/dropout_loops.h"

namespace ballast {
namespace {

constexpr int64_t low_half = 0xFFFFFFFF;

/// Philox4x32-10 on int64 tensors that hold 32-bit words, so that every device draws the same mask.
std::array<torch::Tensor, 4> philox_tensors(uint64_t key, std::array<torch::Tensor, 4> c) {
  constexpr int64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  auto key_0 = static_cast<int64_t>(key & low_half), key_1 = static_cast<int64_t>(key >> 32);
  const auto high = [](const torch::Tensor& product) {
    return product.bitwise_right_shift(32).bitwise_and(low_half);
  };
  for (int round = 0; round < 10; ++round) {
    const torch::Tensor product_0 = c[0] * multiplier_0, product_1 = c[2] * multiplier_1;
    c = {high(product_1).bitwise_xor(c[1]).bitwise_xor(key_0), product_1.bitwise_and(low_half),
         high(product_0).bitwise_xor(c[3]).bitwise_xor(key_1), product_0.bitwise_and(low_half)};
    key_0 = (key_0 + 0x9E3779B9) & low_half;
    key_1 = (key_1 + 0xBB67AE85) & low_half;
  }
  return c;
}

}  // namespace

torch::Tensor drop_factors(DropMask mask, int64_t rows, int64_t columns,
                           const torch::Tensor& like) {
  const torch::NoGradGuard no_grad;
  const int64_t quads = (columns + 3) / 4;
  const auto integers = torch::TensorOptions(torch::kInt64).device(like.device());
  const torch::Tensor column = torch::arange(quads, integers).expand({rows, quads});
  const torch::Tensor row = torch::arange(rows, integers).unsqueeze(1).expand({rows, quads});
  const torch::Tensor zero = torch::zeros({rows, quads}, integers);
  const auto words = philox_tensors(mask.key, {column, zero, row, zero});
  const torch::Tensor all = torch::stack({words[0], words[1], words[2], words[3]}, 2)
                                .reshape({rows, quads * 4})
                                .slice(1, 0, columns);
  const torch::Tensor kept = all.ge(static_cast<int64_t>(drop_threshold(mask.p)));
  return kept.to(like.scalar_type()).div_(1 - mask.p);
}

torch::Tensor dropout_reference(const torch::Tensor& x, DropMask mask) {
  if (!mask.active()) return x;
  const int64_t columns = x.size(-1);
  const int64_t rows = columns == 0 ? 0 : x.numel() / columns;
  return x * drop_factors(mask, rows, columns, x).view(x.sizes());
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

torch::Tensor dropped(const torch::Tensor& x, DropMask mask) {
  const torch::Tensor from = x.contiguous();
  torch::Tensor to = torch::empty_like(from);
  const int64_t columns = x.size(-1);
  drop_rows({x.numel() / columns, columns, drop_row_of(mask)}, from.data_ptr<float>(),
            to.data_ptr<float>());
  return to;
}

struct FusedDropout : torch::autograd::Function<FusedDropout> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, DropMask mask) {
    hold(*context, mask);
    return dropped(x, mask);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("dropout");
    return {dropped(gradients[0], held<DropMask>(*context)), {}};
  }
};

}  // namespace

torch::Tensor dropout(const torch::Tensor& x, DropMask mask) {
  if (!mask.active() || x.numel() == 0) return x;
  return fused_serves(x) ? FusedDropout::apply(x, mask) : dropout_reference(x, mask);
}

}  // namespace ballast
