#pragma once

#include <benchmark/benchmark.h>
#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

namespace ballast::bench {

using Tensors = std::vector<torch::Tensor>;
using Step = void (*)(benchmark::State&);

/// A standard normal leaf, a function of sizes and seed.
torch::Tensor drawn(std::vector<int64_t> sizes, uint64_t seed);

void use_all_cores();

/// A training step of one kernel: forward, and the gradients of all inputs.
void time_step(benchmark::State& state, const Tensors& inputs,
               const std::function<torch::Tensor(const Tensors&)>& kernel);

/// Benchmarks fused/NAME and stock/NAME of each list of arguments, one after the other.
void add_pair(const std::string& name, Step fused, Step stock,
              const std::vector<std::vector<int64_t>>& shapes);

/// Attention of training, with grouped heads and with a soft cap, and of decoding.
void add_attention_pairs();

}  // namespace ballast::bench
