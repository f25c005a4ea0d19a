#include "ballast/optim/sweep.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

constexpr int64_t grain = 32768;  // elements per task; smaller ones cost more than they save

template <class T>
struct Arrays {
  T* value;
  const T* gradient;
  T* first_moment;
  T* second_moment;
};

template <class T>
struct Numbers {
  explicit Numbers(const Update& u)
      : beta1(T(u.beta1)),
        beta2(T(u.beta2)),
        rest1(T(1 - u.beta1)),
        rest2(T(1 - u.beta2)),
        gradient_scale(T(u.gradient_scale)),
        l2(T(u.l2)),
        decay(T(u.decay)),
        step(T(u.step)),
        root(T(u.root)),
        epsilon(T(u.epsilon)) {}

  T beta1, beta2, rest1, rest2, gradient_scale, l2, decay, step, root, epsilon;
};

template <class T>
void sweep_range(const Arrays<T>& arrays, const Numbers<T> n, int64_t begin, int64_t end) {
  T* const __restrict value = arrays.value;
  const T* const __restrict gradient = arrays.gradient;
  T* const __restrict first = arrays.first_moment;
  T* const __restrict second = arrays.second_moment;
  for (int64_t i = begin; i < end; ++i) {
    const T w = value[i];
    const T g = n.gradient_scale * gradient[i] + n.l2 * w;
    const T m = n.beta1 * first[i] + n.rest1 * g;
    const T v = n.beta2 * second[i] + n.rest2 * g * g;
    first[i] = m;
    second[i] = v;
    value[i] = w - (n.decay * w + n.step * m / (n.root * std::sqrt(v) + n.epsilon));
  }
}

template <class T>
void sweep_arrays(const SweptTensors& tensors, const Update& update) {
  const torch::Tensor gradient = tensors.gradient.contiguous();
  const Arrays<T> arrays{tensors.value.data_ptr<T>(), gradient.data_ptr<T>(),
                         tensors.first_moment.data_ptr<T>(), tensors.second_moment.data_ptr<T>()};
  const Numbers<T> numbers(update);
  at::parallel_for(0, tensors.value.numel(), grain,
                   [&](int64_t begin, int64_t end) { sweep_range(arrays, numbers, begin, end); });
  // Autograd must see that a tensor it saved has changed, as after any in-place operation.
  tensors.value.unsafeGetTensorImpl()->bump_version();
}

void sweep_aten(const SweptTensors& tensors, const Update& u) {
  const auto type = tensors.first_moment.scalar_type();
  const torch::Tensor w = tensors.value.to(type);
  const torch::Tensor g = tensors.gradient.to(type) * u.gradient_scale + w * u.l2;
  tensors.first_moment.mul_(u.beta1).add_(g, 1 - u.beta1);
  tensors.second_moment.mul_(u.beta2).addcmul_(g, g, 1 - u.beta2);
  const torch::Tensor denominator = tensors.second_moment.sqrt() * u.root + u.epsilon;
  tensors.value.copy_(w - (w * u.decay + u.step * tensors.first_moment / denominator));
}

}  // namespace

void sweep(const SweptTensors& tensors, const Update& update) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor& value = tensors.value;
  const bool plain = value.is_cpu() && value.is_contiguous();
  if (plain && value.scalar_type() == torch::kFloat) {
    sweep_arrays<float>(tensors, update);
  } else if (plain && value.scalar_type() == torch::kDouble) {
    sweep_arrays<double>(tensors, update);
  } else {
    sweep_aten(tensors, update);
  }
}

}  // namespace ballast
