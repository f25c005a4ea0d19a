#include "bench/kernel_pairs.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include <thread>

namespace ballast::bench {

torch::Tensor drawn(std::vector<int64_t> sizes, uint64_t seed) {
  return torch::randn(sizes, at::detail::createCPUGenerator(seed)).set_requires_grad(true);
}

void use_all_cores() { at::set_num_threads(static_cast<int>(std::thread::hardware_concurrency())); }

void time_step(benchmark::State& state, const Tensors& inputs,
               const std::function<torch::Tensor(const Tensors&)>& kernel) {
  use_all_cores();
  const torch::Tensor gradient = torch::ones_like(kernel(inputs).detach());
  for (auto _ : state) {
    const Tensors gradients = torch::autograd::grad({kernel(inputs)}, inputs, {gradient});
    benchmark::DoNotOptimize(gradients[0].data_ptr());
  }
}

void add_pair(const std::string& name, Step fused, Step stock,
              const std::vector<std::vector<int64_t>>& shapes) {
  for (const std::vector<int64_t>& shape : shapes) {
    for (const auto& [side, step] : {std::pair("fused/", fused), {"stock/", stock}}) {
      benchmark::RegisterBenchmark((side + name).c_str(), step)
          ->Args(shape)
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace ballast::bench
