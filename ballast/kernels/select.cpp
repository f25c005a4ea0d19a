#include "ballast/kernels/select.h"

#include <torch/utils.h>

#include <algorithm>

namespace ballast {
namespace {

thread_local int reference_scopes = 0;

}  // namespace

ReferenceKernels::ReferenceKernels() { ++reference_scopes; }
ReferenceKernels::~ReferenceKernels() { --reference_scopes; }

bool fused_serves(const torch::Tensor& tensor) {
  return reference_scopes == 0 && tensor.is_cpu() && tensor.scalar_type() == torch::kFloat32;
}

bool fused_serves(std::initializer_list<torch::Tensor> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const torch::Tensor& t) { return !t.defined() || fused_serves(t); });
}

bool learns(std::initializer_list<torch::Tensor> tensors) {
  return torch::GradMode::is_enabled() &&
         std::any_of(tensors.begin(), tensors.end(),
                     [](const torch::Tensor& t) { return t.defined() && t.requires_grad(); });
}

}  // namespace ballast
