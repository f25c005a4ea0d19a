#include "ballast/kernels/sum_of_squares.h"

#include <torch/utils.h>

#include <numeric>
#include <vector>

#include "ballast/kernels/select.h"
#include "ballast/loops/adam_loops.h"
#include "ballast/loops/chunks.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

/// Of contiguous float32 tensors on the CPU.
double in_one_pass(const std::vector<torch::Tensor>& tensors) {
  std::vector<const float*> values;
  std::vector<int64_t> sizes;
  for (const torch::Tensor& tensor : tensors) {
    values.push_back(tensor.data_ptr<float>());
    sizes.push_back(tensor.numel());
  }
  const Chunks chunks(sizes);
  std::vector<double> sums(chunks.count());
  for_each_task(chunks.count(), [&](int64_t chunk) {
    chunks.for_ranges(chunk, [&](int64_t array, int64_t begin, int64_t end) {
      sums[chunk] += squares_of_range(values[array], begin, end);
    });
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double sum_of_squares(std::span<const torch::Tensor> tensors) {
  std::vector<torch::Tensor> here, elsewhere;
  for (const torch::Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    const bool fused = fused_serves(tensor);
    (fused ? here : elsewhere).push_back(fused ? tensor.contiguous() : tensor);
  }
  return in_one_pass(here) + sum_of_squares_reference(elsewhere);
}

double sum_of_squares_reference(std::span<const torch::Tensor> tensors) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> norms;  // still on a device, fetched in one go
  for (const torch::Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    norms.push_back(at::linalg_vector_norm(tensor, 2, c10::nullopt, false, torch::kDouble));
  }
  return norms.empty() ? 0 : torch::stack(norms).square().sum().item<double>();
}

}  // namespace ballast
