#pragma once

#include <torch/types.h>

namespace ballast {

/// While one is alive, this thread's kernels run their ATen reference.
///
/// For instruments that need second derivatives, and for tests, whose oracle the reference is.
class ReferenceKernels {
 public:
  ReferenceKernels();
  ~ReferenceKernels();
  ReferenceKernels(const ReferenceKernels&) = delete;
  ReferenceKernels& operator=(const ReferenceKernels&) = delete;
};

/// True when the fused CPU version serves this tensor: float32, on the CPU, no `ReferenceKernels`.
bool fused_serves(const torch::Tensor& tensor);

}  // namespace ballast
