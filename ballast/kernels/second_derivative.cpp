#include "ballast/kernels/second_derivative.h"

#include <ATen/core/grad_mode.h>

#include <string>

#include "ballast/base/error.h"

namespace ballast {

void refuse_second_derivative(const char* kernel) {
  if (!torch::GradMode::is_enabled()) return;
  throw RecipeError(std::string(kernel) +
                    ": a second derivative was asked of a fused kernel, which has the first only; "
                    "run the forward pass in the scope of a ballast::ReferenceKernels");
}

}  // namespace ballast
