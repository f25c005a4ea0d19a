// Each fused kernel beside its composition of stock ATen operations, forward and, where training
// uses it, backward, in one run: read the pairs fused/... and stock/... of the same arguments.
//
// Medians over repetitions: --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>
#include <torch/optim/adam.h>
#include <torch/types.h>

#include <algorithm>

#include "ballast/base/tensor_pool.h"
#include "ballast/kernels/adam.h"
#include "ballast/kernels/candidates.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/kernels/linear.h"
#include "ballast/kernels/norm.h"
#include "ballast/kernels/residual_norm.h"
#include "bench/kernel_pairs.h"

namespace {

using namespace ballast;
using namespace ballast::bench;

/// tokens, d, d_ff
void linear_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), f = state.range(2);
  time_step(state, {drawn({n, d}, 1), drawn({f, d}, 2), drawn({f}, 3)}, [](const Tensors& t) {
    return linear(t[0], t[1], t[2], {1, {Elementwise::gelu}});
  });
  state.counters["GFLOP/s"] = benchmark::Counter(6e-9 * static_cast<double>(n * d * f),
                                                 benchmark::Counter::kIsIterationInvariantRate);
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

/// tokens, d
void norm_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1);
  time_step(state, {drawn({n, d}, 1), drawn({d}, 2), drawn({d}, 3)},
            [](const Tensors& t) { return norm(t[0], t[1], t[2], {}); });
}

void stock_norm_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1);
  time_step(state, {drawn({n, d}, 1), drawn({d}, 2), drawn({d}, 3)},
            [=](const Tensors& t) { return torch::layer_norm(t[0], {d}, t[1], t[2]); });
}

/// tokens, d
void rms_norm_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1);
  time_step(state, {drawn({n, d}, 1), drawn({d}, 2)},
            [](const Tensors& t) { return norm(t[0], t[1], {}, {.statistic = Statistic::rms}); });
}

void stock_rms_norm_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1);
  time_step(state, {drawn({n, d}, 1), drawn({d}, 2)}, [](const Tensors& t) {
    return t[0] * torch::rsqrt(t[0].square().mean(1, true) + 1e-5) * t[1];
  });
}

/// tokens, d, d_ff
void swiglu_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), f = state.range(2);
  time_step(state, {drawn({n, d}, 1), drawn({2 * f, d}, 2), drawn({2 * f}, 3)},
            [](const Tensors& t) {
              return linear(t[0], t[1], t[2], {1, {Elementwise::silu, true}});
            });
}

void stock_swiglu_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), f = state.range(2);
  time_step(state, {drawn({n, d}, 1), drawn({2 * f, d}, 2), drawn({2 * f}, 3)},
            [](const Tensors& t) {
              const Tensors pair = torch::linear(t[0], t[1], t[2]).chunk(2, 1);
              return torch::silu(pair[0]) * pair[1];
            });
}

/// tokens, d, classes
void cross_entropy_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), classes = state.range(2);
  const torch::Tensor targets = torch::arange(n, torch::kInt64).remainder(classes);
  time_step(state, {drawn({n, d}, 1), drawn({classes, d}, 2)}, [&](const Tensors& t) {
    return cross_entropy({t[0], t[1], {}, targets}, {0.1}).loss;
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

void stock_cross_entropy_step(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), classes = state.range(2);
  const torch::Tensor targets = torch::arange(n, torch::kInt64).remainder(classes);
  time_step(state, {drawn({n, d}, 1), drawn({classes, d}, 2)}, [&](const Tensors& t) {
    return torch::cross_entropy_loss(torch::matmul(t[0], t[1].t()), targets, {}, at::Reduction::Sum,
                                     -100, 0.1);
  });
}

/// sentences of 4 hypotheses each, classes; the 8 best of each sentence
void candidates_call(benchmark::State& state) {
  use_all_cores();
  const int64_t sentences = state.range(0);
  const torch::Tensor logits = drawn({4 * sentences, state.range(1)}, 1).detach();
  const Segments groups = Segments::strided(sentences, 4, 4);
  std::vector<float> offsets(4 * sentences);
  for (auto _ : state) {
    const std::vector<double> normalizers = log_normalizers(logits);
    std::transform(normalizers.begin(), normalizers.end(), offsets.begin(),
                   [](double each) { return static_cast<float>(-each); });
    benchmark::DoNotOptimize(best_candidates({logits, offsets, groups, {}, 8}).data());
  }
}

void stock_candidates_call(benchmark::State& state) {
  use_all_cores();
  const torch::Tensor logits = drawn({4 * state.range(0), state.range(1)}, 1).detach();
  for (auto _ : state) {
    const torch::Tensor log_p = torch::log_softmax(logits, -1).view({state.range(0), -1});
    benchmark::DoNotOptimize(std::get<0>(log_p.topk(8)).data_ptr());
  }
}

/// tensors, elements of each
void adam_call(benchmark::State& state) {
  use_all_cores();
  std::vector<AdamTensors> all;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const auto fresh = [&] { return drawn({state.range(1)}, i).detach().abs(); };
    all.push_back({fresh(),
                   fresh(),
                   fresh(),
                   fresh(),
                   {.beta1 = 0.9, .beta2 = 0.98, .step = 1e-3, .root = 1, .epsilon = 1e-8}});
  }
  for (auto _ : state) adam(all);
}

void stock_adam_call(benchmark::State& state) {
  use_all_cores();
  Tensors all;
  for (int64_t i = 0; i < state.range(0); ++i) {
    all.push_back(drawn({state.range(1)}, i));
    all.back().mutable_grad() = drawn({state.range(1)}, i).detach();
  }
  torch::optim::Adam optimizer(all, torch::optim::AdamOptions(1e-3).betas({0.9, 0.98}));
  for (auto _ : state) optimizer.step();
}

}  // namespace

int main(int argc, char** argv) {
  pool_large_tensors();  // for both sides, so that no page faults are timed
  add_pair("linear_gelu", linear_step, stock_linear_step,
           {{2000, 128, 512}, {2000, 256, 1024}, {2000, 512, 2048}});
  add_attention_pairs();
  add_pair("residual_norm", residual_step, stock_residual_step, {{2000, 256}, {4000, 512}});
  add_pair("cross_entropy", cross_entropy_step, stock_cross_entropy_step, {{2000, 256, 8000}});
  add_pair("norm", norm_step, stock_norm_step, {{2000, 256}, {4000, 512}});
  add_pair("rms_norm", rms_norm_step, stock_rms_norm_step, {{2000, 256}, {4000, 512}});
  add_pair("swiglu", swiglu_step, stock_swiglu_step, {{2000, 256, 680}, {2000, 512, 1368}});
  add_pair("dropout", dropout_step, stock_dropout_step, {{2000, 1024}});
  add_pair("candidates", candidates_call, stock_candidates_call, {{60, 8000}, {60, 32000}});
  add_pair("adam", adam_call, stock_adam_call, {{100, 1 << 14}, {40, 1 << 20}});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
