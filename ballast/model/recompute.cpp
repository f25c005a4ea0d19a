#include "ballast/model/recompute.h"

#include <torch/autograd.h>

#include <algorithm>
#include <utility>

#include "ballast/kernels/held.h"
#include "ballast/kernels/second_derivative.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RecomputedPart : torch::autograd::Function<RecomputedPart> {
  static variable_list forward(AutogradContext* context, at::TensorList inputs, ForwardPart part) {
    context->set_materialize_grads(false);
    context->save_for_backward(inputs.vec());
    variable_list outputs = part(inputs.vec());
    hold(*context, std::move(part));
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("recomputed");
    variable_list inputs;
    for (const torch::Tensor& each : context->get_saved_variables()) {
      inputs.push_back(each.detach().set_requires_grad(each.requires_grad()));
    }
    variable_list outputs;
    {
      const torch::AutoGradMode graph(true);
      outputs = held<ForwardPart>(*context)(inputs);
    }
    // An output that nothing read has no gradient; one that leads nowhere asks for none.
    variable_list roots, of_roots;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!gradients[i].defined() || !outputs[i].requires_grad()) continue;
      roots.push_back(outputs[i]);
      of_roots.push_back(gradients[i]);
    }
    torch::autograd::backward(roots, of_roots);
    variable_list found;
    for (const torch::Tensor& each : inputs) found.push_back(each.grad());
    found.emplace_back();
    return found;
  }
};

}  // namespace

std::vector<torch::Tensor> recomputed(ForwardPart part, const std::vector<torch::Tensor>& inputs) {
  const bool leads_back =
      std::ranges::any_of(inputs, [](const torch::Tensor& each) { return each.requires_grad(); });
  if (!torch::GradMode::is_enabled() || !leads_back) return part(inputs);
  return RecomputedPart::apply(at::TensorList(inputs), std::move(part));
}

}  // namespace ballast
