#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "ballast/kernels/activation.h"

namespace ballast {

// What the tests of this folder measure kernels with.

/// A kernel as a function of its differentiable tensors; undefined ones are passed through.
using Kernel = std::function<torch::Tensor(const std::vector<torch::Tensor>&)>;

/// Activations with a loop and without, gated and not, scaled and shifted and not.
inline constexpr std::array activations{Activation{Elementwise::identity},
                                        Activation{Elementwise::relu},
                                        Activation{Elementwise::gelu},
                                        Activation{Elementwise::gelu_tanh},
                                        Activation{Elementwise::silu},
                                        Activation{Elementwise::relu_squared},
                                        Activation{Elementwise::sigmoid},
                                        Activation{Elementwise::tanh},
                                        Activation{Elementwise::elu, false, 0.7},
                                        Activation{Elementwise::identity, false, 0, 0.6, 0.2},
                                        Activation{Elementwise::relu, false, 0, 1.5},
                                        Activation{Elementwise::sigmoid, false, 0, 4.8, -2.4},
                                        Activation{Elementwise::mish, false, 0, 1.6, -0.4},
                                        Activation{Elementwise::silu, true, 0, 1.7},
                                        Activation{Elementwise::identity, true},
                                        Activation{Elementwise::relu, true},
                                        Activation{Elementwise::gelu, true},
                                        Activation{Elementwise::silu, true},
                                        Activation{Elementwise::mish, true}};

/// ||a - b|| / ||b|| over all elements, in double; ||a|| where b is 0. A tensor is measured as a
/// whole, since single elements near 0 carry the rounding of their larger neighbors.
double relative_error(const torch::Tensor& a, const torch::Tensor& b);

/// The result, then the gradients of its weighted sum by every defined input.
std::vector<torch::Tensor> with_gradients(const Kernel& kernel,
                                          const std::vector<torch::Tensor>& inputs);

/// The largest relative error of result and gradients of `fused` in float32 against `reference` in
/// double.
double error_against_reference(const Kernel& fused, const Kernel& reference,
                               const std::vector<torch::Tensor>& inputs);

/// The same, less four times what the reference itself errs by in float32: for gradients that are
/// sums of terms which nearly cancel, so that no float32 computation has more digits of them.
double error_beyond_rounding(const Kernel& fused, const Kernel& reference,
                             const std::vector<torch::Tensor>& inputs);

/// The relative error of the gradient of a kernel in double against a central difference along a
/// random direction of all inputs.
double finite_difference_error(const Kernel& reference, const std::vector<torch::Tensor>& inputs);

/// True when two runs with 2 threads agree in every bit.
bool repeats_bit_for_bit(const Kernel& kernel, const std::vector<torch::Tensor>& inputs);

/// True when 1 and 2 threads give the same bits.
bool same_for_any_threads(const Kernel& kernel, const std::vector<torch::Tensor>& inputs);

/// A standard normal float32 tensor, a function of sizes and seed.
torch::Tensor drawn(std::vector<int64_t> sizes, uint64_t seed);

/// Runs body once per instruction set that this processor has, the least first to be named by the
/// test's trace.
void on_every_target(const std::function<void()>& body);

/// Runs libtorch on a number of threads until destroyed.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace ballast
