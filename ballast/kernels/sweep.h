#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ballast {

/// Tensors of one shape; undefined ones are allowed.
using TensorList = std::vector<torch::Tensor>;

/// Calls `update(i, ranges)` until each element of every list i was handed over once, the same
/// range of all its tensors together. For updates in which an element depends on nothing but the
/// elements at its own place.
///
/// Contiguous tensors on the CPU are handed over in ranges that fit a core's cache, side by side on
/// libtorch's threads; a call is one thread's work, also in the operations of ATen it contains, so
/// intermediate results never go through memory. Borders depend on nothing but the sizes. All other
/// tensors are handed over whole. `update` runs without autograd and writes in place.
void sweep(std::span<const TensorList> lists,
           const std::function<void(int64_t i, const TensorList& ranges)>& update);

/// Calls `work(i)` for every tensor, on the CPU the largest first and each as one thread's work, so
/// that what it sums and multiplies has the same bits for any number of threads. Runs without
/// autograd. `work(i)` owns what it writes.
void one_thread_each(std::span<const torch::Tensor> tensors,
                     const std::function<void(int64_t i)>& work);

}  // namespace ballast
