#include "ballast/kernels/sweep.h"

#include <omp.h>
#include <torch/utils.h>

#include <algorithm>
#include <numeric>

#include "ballast/loops/chunks.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

/// While it lives, OpenMP gives this thread no others: ATen and oneDNN share out nothing, and so
/// round in one way only.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

bool is_cut(const torch::Tensor& tensor) {
  return !tensor.defined() || (tensor.is_cpu() && tensor.is_contiguous());
}

TensorList flat(const TensorList& list) {
  TensorList made;
  for (const torch::Tensor& each : list) {
    made.push_back(each.defined() ? each.detach().view(-1) : each);
  }
  return made;
}

TensorList range_of(const TensorList& list, int64_t begin, int64_t end) {
  TensorList made;
  for (const torch::Tensor& each : list) {
    made.push_back(each.defined() ? each.narrow(0, begin, end - begin) : each);
  }
  return made;
}

}  // namespace

void sweep(std::span<const TensorList> lists,
           const std::function<void(int64_t, const TensorList&)>& update) {
  const torch::NoGradGuard no_grad;
  std::vector<TensorList> cut;
  std::vector<int64_t> sizes, numbers;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!std::ranges::all_of(lists[i], is_cut)) {
      update(static_cast<int64_t>(i), lists[i]);
      continue;
    }
    cut.push_back(flat(lists[i]));
    sizes.push_back(cut.back().front().numel());
    numbers.push_back(static_cast<int64_t>(i));
  }
  const Chunks chunks(sizes);
  for_each_task(chunks.count(), [&](int64_t chunk) {
    const torch::NoGradGuard no_grad_here;
    const OneThread alone;
    chunks.for_ranges(chunk, [&](int64_t array, int64_t begin, int64_t end) {
      update(numbers[array], range_of(cut[array], begin, end));
    });
  });
}

void one_thread_each(std::span<const torch::Tensor> tensors,
                     const std::function<void(int64_t)>& work) {
  const torch::NoGradGuard no_grad;
  std::vector<int64_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::ranges::all_of(tensors, &torch::Tensor::is_cpu)) {
    for (const int64_t i : order) work(i);
    return;
  }
  std::ranges::stable_sort(order, std::greater(), [&](int64_t i) { return tensors[i].numel(); });
  for_each_task(static_cast<int64_t>(order.size()), [&](int64_t task) {
    const torch::NoGradGuard no_grad_here;
    const OneThread alone;
    work(order[task]);
  });
}

}  // namespace ballast
