// Each fused kernel beside its composition of stock ATen operations, forward and backward, in one
// run: read the pairs fused/... and stock/... of the same arguments.
//
// Medians over repetitions: --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
#include <ATen/CPUGeneratorImpl.h>
#include <benchmark/benchmark.h>
#include <torch/autograd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <functional>
#include <thread>

#include "ballast/kernels/attention.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/kernels/linear.h"
#include "ballast/kernels/residual_norm.h"
#include "ballast/kernels/select.h"

namespace {

using namespace ballast;
using Tensors = std::vector<torch::Tensor>;

torch::Tensor drawn(std::vector<int64_t> sizes, uint64_t seed) {
  return torch::randn(sizes, at::detail::createCPUGenerator(seed)).set_requires_grad(true);
}

/// A training step of one kernel: forward, and the gradients of all inputs.
void time_step(benchmark::State& state, const Tensors& inputs,
               const std::function<torch::Tensor(const Tensors&)>& kernel) {
  at::set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
  const torch::Tensor gradient = torch::ones_like(kernel(inputs).detach());
  for (auto _ : state) {
    const Tensors gradients = torch::autograd::grad({kernel(inputs)}, inputs, {gradient});
    benchmark::DoNotOptimize(gradients[0].data_ptr());
  }
}

/// tokens, d, d_ff
void linear_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), f = state.range(2);
  time_step(state, {drawn({n, d}, 1), drawn({f, d}, 2), drawn({f}, 3)}, [](const Tensors& t) {
    return linear(t[0], t[1], t[2], {1, Activation::gelu});
  });
  state.counters["GFLOP/s"] = benchmark::Counter(6e-9 * static_cast<double>(n * d * f),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

/// sequences, length, heads; head size 64
void attention_step(benchmark::State& state) {
  const int64_t b = state.range(0), length = state.range(1), heads = state.range(2);
  const Segments segments = Segments::strided(b, length, length);
  const int64_t n = b * length, d = heads * 64;
  const AttentionOptions options{
      .heads = heads, .key_value_heads = heads, .scale = 0.125, .causal = true};
  time_step(state, {drawn({n, d}, 1), drawn({n, d}, 2), drawn({n, d}, 3)}, [&](const Tensors& t) {
    return attention({t[0], t[1], t[2], segments, segments}, options);
  });
}

/// tokens, d
void residual_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1);
  time_step(state,
            {drawn({n, d}, 1), drawn({n, d}, 2), drawn({d}, 3), drawn({d}, 4), drawn({d}, 5)},
            [](const Tensors& t) {
              return residual_norm({.shortcut = t[0],
                                    .branch = t[1],
                                    .shortcut_factor = {1, t[2]},
                                    .dropout = {0.1, 7},
                                    .norm_out = NormParameters{t[3], t[4], {}}});
            });
}

/// tokens, d, classes
void cross_entropy_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), classes = state.range(2);
  const torch::Tensor targets = torch::arange(n, torch::kInt64).remainder(classes);
  time_step(state, {drawn({n, d}, 1), drawn({classes, d}, 2)}, [&](const Tensors& t) {
    return cross_entropy({t[0], t[1], {}, targets}, {1, 0.1}).loss;
  });
}

/// tokens, d
void dropout_step(benchmark::State& state) {
  time_step(state, {drawn({state.range(0), state.range(1)}, 1)}, [](const Tensors& t) {
    return dropout(t[0], {0.1, 7});
  });
}

/// torch's own dropout, whose mask depends on a generator's state.
void stock_dropout_step(benchmark::State& state) {
  time_step(state, {drawn({state.range(0), state.range(1)}, 1)},
            [](const Tensors& t) { return torch::dropout(t[0], 0.1, true); });
}

void stock_linear_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), f = state.range(2);
  time_step(state, {drawn({n, d}, 1), drawn({f, d}, 2), drawn({f}, 3)},
            [](const Tensors& t) { return torch::gelu(torch::linear(t[0], t[1], t[2])); });
  state.counters["GFLOP/s"] = benchmark::Counter(6e-9 * static_cast<double>(n * d * f),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void stock_residual_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1);
  time_step(
      state, {drawn({n, d}, 1), drawn({n, d}, 2), drawn({d}, 3), drawn({d}, 4), drawn({d}, 5)},
      [=](const Tensors& t) {
        return torch::layer_norm(t[0] * t[2] + torch::dropout(t[1], 0.1, true), {d}, t[3], t[4]);
      });
}

/// The reference pads to the longest sequence; here all are of one length, so it pads nothing.
void stock_attention_step(benchmark::State& state) {
  const ReferenceKernels scope;
  attention_step(state);
}

void stock_cross_entropy_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), classes = state.range(2);
  const torch::Tensor targets = torch::arange(n, torch::kInt64).remainder(classes);
  time_step(state, {drawn({n, d}, 1), drawn({classes, d}, 2)}, [&](const Tensors& t) {
    return torch::cross_entropy_loss(torch::matmul(t[0], t[1].t()), targets, {}, at::Reduction::Sum,
                                     -100, 0.1);
  });
}

using Step = void (*)(benchmark::State&);

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

}  // namespace

int main(int argc, char** argv) {
  add_pair("linear_gelu", linear_step, stock_linear_step,
           {{2000, 128, 512}, {2000, 256, 1024}, {2000, 512, 2048}});
  add_pair("attention", attention_step, stock_attention_step,
           {{80, 25, 4}, {40, 50, 8}, {8, 250, 8}});
  add_pair("residual_norm", residual_step, stock_residual_step, {{2000, 256}, {4000, 512}});
  add_pair("cross_entropy", cross_entropy_step, stock_cross_entropy_step, {{2000, 256, 8000}});
  add_pair("dropout", dropout_step, stock_dropout_step, {{2000, 1024}});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
