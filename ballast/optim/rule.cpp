#include "ballast/optim/rule.h"

#include <torch/utils.h>

#include <cmath>

#include "ballast/kernels/sum_of_squares.h"
#include "ballast/kernels/sweep.h"

namespace ballast {
namespace {

int64_t rows_of(const torch::Tensor& value) { return value.dim() == 0 ? 1 : value.size(0); }

int64_t columns_of(const torch::Tensor& value) {
  return rows_of(value) == 0 ? 0 : value.numel() / rows_of(value);
}

/// The same step on other tensors: value, gradient, then the state.
ParameterStep with_tensors(ParameterStep step, const TensorList& tensors) {
  step.value = tensors[0];
  step.gradient = tensors[1];
  for (size_t i = 0; i < step.state.size(); ++i) step.state[i].tensor = tensors[i + 2];
  return step;
}

TensorList tensors_of(const ParameterStep& step) {
  const bool strided = step.gradient.defined() && !step.gradient.is_contiguous();
  TensorList tensors{step.value, strided ? step.gradient.contiguous() : step.gradient};
  for (const Kept& each : step.state) tensors.push_back(each.tensor);
  return tensors;
}

ParameterStep matrix_of(const ParameterStep& whole, int64_t number) {
  const int64_t rows = whole.value.size(0) / whole.stacked;
  const auto part = [&](const torch::Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, number * rows, rows) : tensor;
  };
  TensorList tensors{part(whole.value), part(whole.gradient)};
  for (const Kept& each : whole.state) {
    tensors.push_back(each.per == Per::element ? part(each.tensor) : each.tensor.select(0, number));
  }
  return with_tensors(whole, tensors);
}

}  // namespace

torch::ScalarType state_type(const torch::Tensor& value) {
  return value.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
}

std::vector<int64_t> state_shape(const StateTensor& state, const torch::Tensor& value,
                                 int64_t stacked) {
  if (state.per == Per::element) return value.sizes().vec();
  std::vector<int64_t> shape;
  if (stacked > 1) shape.push_back(stacked);
  if (state.per == Per::row) shape.push_back(rows_of(value) / stacked);
  if (state.per == Per::column) shape.push_back(columns_of(value));
  return shape;
}

torch::Tensor ParameterStep::scaled_gradient() const {
  const auto type = state_type(value);
  if (!gradient.defined()) return torch::zeros_like(value, value.options().dtype(type));
  return gradient.to(type) * gradient_scale;
}

torch::Tensor ParameterStep::weights() const { return value.detach().to(state_type(value)); }

void ParameterStep::change(const torch::Tensor& move, double decay) const {
  const torch::Tensor w = weights();
  value.detach().copy_(w - (w * decay + move));
}

void for_elements(std::span<const ParameterStep> all, const StepFunction& update) {
  std::vector<TensorList> lists;
  for (const ParameterStep& each : all) lists.push_back(tensors_of(each));
  sweep(lists, [&](int64_t i, const TensorList& ranges) { update(with_tensors(all[i], ranges)); });
}

void for_matrices(std::span<const ParameterStep> all, const StepFunction& update) {
  const torch::NoGradGuard no_grad;
  std::vector<ParameterStep> matrices;
  TensorList values;
  for (const ParameterStep& each : all) {
    if (each.value.numel() == 0) continue;
    for (int64_t i = 0; i < each.stacked; ++i) {
      matrices.push_back(each.stacked == 1 ? each : matrix_of(each, i));
      values.push_back(matrices.back().value);
    }
  }
  one_thread_each(values, [&](int64_t i) { update(matrices[i]); });
}

torch::Tensor as_matrix(const torch::Tensor& tensor) {
  return tensor.reshape({rows_of(tensor), columns_of(tensor)});
}

double rms(const torch::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  return std::sqrt(sum_of_squares({&tensor, 1}) / static_cast<double>(tensor.numel()));
}

}  // namespace ballast
