#pragma once

#include <torch/types.h>

#include <initializer_list>

namespace ballast {

/// While one is alive, this thread's kernels run their ATen reference.
///
/// For instruments that need second derivatives, and for tests, whose oracle the reference is.
/// Without one, a fused kernel's backward throws RecipeError when asked for a graph of its own.
class ReferenceKernels {
 public:
  ReferenceKernels();
  ~ReferenceKernels();
  ReferenceKernels(const ReferenceKernels&) = delete;
  ReferenceKernels& operator=(const ReferenceKernels&) = delete;
};

/// True when the fused CPU version serves this tensor: float32, on the CPU, no `ReferenceKernels`.
bool fused_serves(const torch::Tensor& tensor);

/// The same for all tensors of a call; undefined ones are passed over.
bool fused_serves(std::initializer_list<torch::Tensor> tensors);

/// True when a backward pass may ask for the gradient of any of these; undefined ones are passed
/// over.
bool learns(std::initializer_list<torch::Tensor> tensors);

}  // namespace ballast
