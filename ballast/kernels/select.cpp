#include "ballast/kernels/select.h"

namespace ballast {
namespace {

thread_local int reference_scopes = 0;

}  // namespace

ReferenceKernels::ReferenceKernels() { ++reference_scopes; }
ReferenceKernels::~ReferenceKernels() { --reference_scopes; }

bool fused_serves(const torch::Tensor& tensor) {
  return reference_scopes == 0 && tensor.is_cpu() && tensor.scalar_type() == torch::kFloat32;
}

}  // namespace ballast
