#include "ballast/kernels/seen_sums.h"

#include <torch/autograd.h>

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

torch::Tensor turned_over(const torch::Tensor& t) { return t.transpose(-2, -1); }

torch::Tensor zero_unless(const torch::Tensor& seen, const torch::Tensor& t) {
  return t.masked_fill(seen.logical_not(), 0.0);
}

struct ProductsOfSeen : torch::autograd::Function<ProductsOfSeen> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& left,
                               const torch::Tensor& right, const torch::Tensor& seen) {
    context->save_for_backward({left, right, seen});
    return zero_unless(seen, torch::matmul(left, turned_over(right)));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &left = saved[0], &right = saved[1], &seen = saved[2];
    const torch::Tensor gradient = zero_unless(seen, gradients[0]);
    return {sums_of_seen(gradient, right, seen),
            sums_of_seen(turned_over(gradient), left, turned_over(seen)), torch::Tensor()};
  }
};

struct SumsOfSeen : torch::autograd::Function<SumsOfSeen> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weights,
                               const torch::Tensor& rows, const torch::Tensor& seen) {
    context->save_for_backward({weights, rows, seen});
    torch::Tensor sums = torch::matmul(weights, rows);
    // 0 times what is not finite stays in a sum, so without a trace there was none.
    if (sums.isfinite().all().item<bool>()) return sums;
    const torch::Tensor endless = rows.isfinite().logical_not();
    const torch::Tensor touched =
        torch::matmul(seen.to(rows.scalar_type()), endless.to(rows.scalar_type())).gt(0);
    return torch::where(touched, sums, torch::matmul(weights, rows.masked_fill(endless, 0.0)));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &weights = saved[0], &rows = saved[1], &seen = saved[2];
    return {products_of_seen(gradients[0], rows, seen),
            sums_of_seen(turned_over(weights), gradients[0], turned_over(seen)), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor products_of_seen(const torch::Tensor& left, const torch::Tensor& right,
                               const torch::Tensor& seen) {
  return ProductsOfSeen::apply(left, right, seen);
}

torch::Tensor sums_of_seen(const torch::Tensor& weights, const torch::Tensor& rows,
                           const torch::Tensor& seen) {
  return SumsOfSeen::apply(weights, rows, seen);
}

}  // namespace ballast
