#include "ballast/verbs/machine.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <torch/cuda.h>

#include <limits>
#include <thread>

#include "ballast/base/error.h"
#include "ballast/base/tensor_pool.h"
#include "ballast/kernels/bf16.h"

namespace ballast {
namespace {

/// Freed activations are wanted again a moment later; giving them back to the kernel and faulting
/// them in anew took half of a step's time.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
}

/// OpenBLAS has a thread pool of its own, which would spin beside libtorch's.
void silence_blas_threads() {
  using SetThreads = void (*)(int);
  const auto set_threads =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads) set_threads(1);
}

torch::Device device_named(const std::string& name) {
  if (name == "auto") return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  if (name.starts_with("cuda") && !torch::cuda::is_available()) {
    throw RecipeError(fmt::format(
        "--device {}: this libtorch sees no CUDA device; use cpu, or build against a CUDA libtorch "
        "with -DCMAKE_PREFIX_PATH=",
        name));
  }
  try {
    return torch::Device(name);
  } catch (const std::exception&) {
    throw RecipeError(fmt::format("--device {}: expected auto, cpu, cuda or cuda:N", name));
  }
}

}  // namespace

torch::Device set_up_machine(const MachineFlags& flags) {
  keep_freed_memory();
  if (flags.pooled) pool_large_tensors();
  silence_blas_threads();
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(flags.threads > 0 ? flags.threads : std::max(cores, 1));
  return device_named(flags.device);
}

void admit(const MachineFlags& flags, std::string_view option, Precision precision,
           torch::Device device) {
  if (!flags.slow_bf16) refuse_slow_precision(option, precision, device);
}

int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace ballast
