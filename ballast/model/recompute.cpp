#include "ballast/model/recompute.h"

#include <torch/autograd.h>

#include <utility>

#include "ballast/kernels/held.h"
#include "ballast/kernels/second_derivative.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The same values as an input of a graph of its own.
torch::Tensor leaf(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.detach().set_requires_grad(tensor.requires_grad()) : tensor;
}

torch::Tensor gradient_of(const torch::Tensor& leaf) {
  return leaf.defined() ? leaf.grad() : torch::Tensor();
}

struct RecomputedPart : torch::autograd::Function<RecomputedPart> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const c10::optional<torch::Tensor>& memory, ForwardPart part) {
    const torch::Tensor rows = memory.value_or(torch::Tensor());
    context->save_for_backward({x, rows});
    torch::Tensor y = part(x, rows);
    hold(*context, std::move(part));
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("recomputed");
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor x = leaf(saved[0]), memory = leaf(saved[1]);
    torch::Tensor y;
    {
      const torch::AutoGradMode graph(true);
      y = held<ForwardPart>(*context)(x, memory);
    }
    torch::autograd::backward({y}, {gradients[0]});
    return {gradient_of(x), gradient_of(memory), {}};
  }
};

}  // namespace

torch::Tensor recomputed(ForwardPart part, const torch::Tensor& x, const torch::Tensor& memory) {
  if (!torch::GradMode::is_enabled() || !x.requires_grad()) return part(x, memory);
  return RecomputedPart::apply(x, given(memory), std::move(part));
}

}  // namespace ballast
