#include "ballast/kernels/adam.h"

#include <torch/utils.h>

#include <vector>

#include "ballast/kernels/select.h"
#include "ballast/loops/adam_loops.h"
#include "ballast/loops/chunks.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

bool fused_serves(const AdamTensors& t) {
  return ballast::fused_serves({t.value, t.gradient, t.first_moment, t.second_moment}) &&
         t.value.is_contiguous() && t.first_moment.is_contiguous() &&
         t.second_moment.is_contiguous();
}

/// Pointers are read anew in every step, since gradients are new tensors then; that takes
/// nanoseconds a tensor.
AdamArrays arrays_of(const AdamTensors& tensors, const torch::Tensor& gradient) {
  return {tensors.value.data_ptr<float>(),
          gradient.defined() ? gradient.data_ptr<float>() : nullptr,
          tensors.first_moment.data_ptr<float>(), tensors.second_moment.data_ptr<float>(),
          tensors.update};
}

}  // namespace

void adam(std::span<const AdamTensors> all) {
  const torch::NoGradGuard no_grad;
  std::vector<AdamArrays> arrays;
  std::vector<int64_t> sizes;
  std::vector<torch::Tensor> copies;  // of strided gradients
  for (const AdamTensors& tensors : all) {
    if (!fused_serves(tensors)) {
      adam_reference(tensors);
      continue;
    }
    const bool strided = tensors.gradient.defined() && !tensors.gradient.is_contiguous();
    if (strided) copies.push_back(tensors.gradient.contiguous());
    arrays.push_back(arrays_of(tensors, strided ? copies.back() : tensors.gradient));
    sizes.push_back(tensors.value.numel());
    // Autograd must see that a tensor it saved has changed, as after any in-place operation.
    tensors.value.unsafeGetTensorImpl()->bump_version();
  }
  const Chunks chunks(sizes);
  for_each_task(chunks.count(), [&](int64_t chunk) {
    chunks.for_ranges(chunk, [&](int64_t array, int64_t begin, int64_t end) {
      adam_range(arrays[array], begin, end);
    });
  });
}

void adam_reference(const AdamTensors& tensors) {
  const torch::NoGradGuard no_grad;
  const AdamUpdate& u = tensors.update;
  const auto type = tensors.first_moment.scalar_type();
  const torch::Tensor w = tensors.value.to(type);
  const torch::Tensor raw =
      tensors.gradient.defined() ? tensors.gradient.to(type) : torch::zeros_like(w);
  const torch::Tensor g = raw * u.gradient_scale + w * u.l2;
  tensors.first_moment.mul_(u.beta1).add_(g, 1 - u.beta1);
  tensors.second_moment.mul_(u.beta2).addcmul_(g, g, 1 - u.beta2);
  const torch::Tensor denominator = tensors.second_moment.sqrt() * u.root + u.epsilon;
  tensors.value.copy_(w - (w * u.decay + u.step * tensors.first_moment / denominator));
}

}  // namespace ballast
