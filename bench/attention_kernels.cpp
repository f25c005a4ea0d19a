#include <cmath>
#include <limits>

#include "ballast/kernels/attention.h"
#include "ballast/kernels/gathered_attention.h"
#include "bench/kernel_pairs.h"

namespace ballast::bench {
namespace {

/// sequences, length, heads, key and value heads; head size 64
struct Shape {
  int64_t sequences, length, heads, shared;

  explicit Shape(const benchmark::State& state)
      : sequences(state.range(0)),
        length(state.range(1)),
        heads(state.range(2)),
        shared(state.range(3)) {}

  Tensors inputs() const {
    const int64_t n = sequences * length;
    return {drawn({n, heads * 64}, 1), drawn({n, shared * 64}, 2), drawn({n, shared * 64}, 3)};
  }
};

void time_fused(benchmark::State& state, double soft_cap) {
  const Shape shape(state);
  const Segments segments = Segments::strided(shape.sequences, shape.length, shape.length);
  const AttentionOptions options{.heads = shape.heads,
                                 .key_value_heads = shape.shared,
                                 .scale = 0.125,
                                 .causal = true,
                                 .soft_cap = soft_cap};
  time_step(state, shape.inputs(), [&](const Tensors& t) {
    return attention({t[0], t[1], t[2], segments, segments}, options);
  });
}

/// All sequences are of one length, so that stock needs no padding.
void time_stock(benchmark::State& state, double soft_cap) {
  const Shape shape(state);
  const torch::Tensor mask =
      torch::full({shape.length, shape.length}, -std::numeric_limits<float>::infinity()).triu(1);
  const auto by_heads = [&](const torch::Tensor& t, int64_t own) {
    const torch::Tensor split = t.view({shape.sequences, shape.length, own, 64}).transpose(1, 2);
    return own == shape.heads ? split : split.repeat_interleave(shape.heads / own, 1);
  };
  time_step(state, shape.inputs(), [&](const Tensors& t) {
    const torch::Tensor q = by_heads(t[0], shape.heads), k = by_heads(t[1], shape.shared);
    torch::Tensor logits = torch::matmul(q, k.transpose(2, 3)) * 0.125;
    if (soft_cap > 0) logits = (logits / soft_cap).tanh() * soft_cap;
    const torch::Tensor weights = torch::softmax(logits + mask, -1);
    return torch::matmul(weights, by_heads(t[2], shape.shared)).transpose(1, 2).reshape_as(t[0]);
  });
}

void attention_step(benchmark::State& state) { time_fused(state, 0); }
void stock_attention_step(benchmark::State& state) { time_stock(state, 0); }
void capped_attention_step(benchmark::State& state) { time_fused(state, 50); }
void stock_capped_attention_step(benchmark::State& state) { time_stock(state, 50); }

/// One step of a search: a query of each hypothesis, and the rows of the cache that it sees.
struct Gathering {
  torch::Tensor query, key, value, rows;

  /// `sequences` are the hypotheses.
  explicit Gathering(const Shape& shape) {
    const int64_t n = shape.sequences, length = shape.length;
    query = drawn({n, shape.heads * 64}, 1).detach();
    key = drawn({n * length, shape.shared * 64}, 2).detach();
    value = drawn({n * length, shape.shared * 64}, 3).detach();
    rows = (torch::arange(length).unsqueeze(0) * n + torch::arange(n).unsqueeze(1) * 5 % n)
               .to(torch::kInt32)
               .contiguous();
  }
};

void gathered_attention_call(benchmark::State& state) {
  use_all_cores();
  const Shape shape(state);
  const Gathering g(shape);
  const AttentionOptions options{
      .heads = shape.heads, .key_value_heads = shape.shared, .scale = 0.125};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        gathered_attention({g.query, g.key, g.value, g.rows}, options).data_ptr());
  }
}

/// As fairseq does it: the cache of every hypothesis is copied to its new place, then read.
void stock_gathered_attention_call(benchmark::State& state) {
  use_all_cores();
  const Shape shape(state);
  const Gathering g(shape);
  const int64_t n = shape.sequences, length = shape.length, shared = shape.shared;
  const auto by_heads = [&](const torch::Tensor& t) {
    return t.view({length, n, shared, 64}).permute({1, 2, 0, 3}).contiguous();
  };
  const torch::Tensor key = by_heads(g.key), value = by_heads(g.value);
  const torch::Tensor order = torch::arange(n) * 5 % n;
  const torch::Tensor query = g.query.view({n * shared, shape.heads / shared, 64});
  for (auto _ : state) {
    const auto moved = [&](const torch::Tensor& t) {
      return t.index_select(0, order).view({n * shared, length, 64});
    };
    const torch::Tensor scores = torch::bmm(query * 0.125, moved(key).transpose(1, 2));
    benchmark::DoNotOptimize(torch::bmm(torch::softmax(scores, -1), moved(value)).data_ptr());
  }
}

}  // namespace

void add_attention_pairs() {
  add_pair("attention", attention_step, stock_attention_step,
           {{80, 25, 4, 4}, {40, 50, 8, 8}, {8, 250, 8, 8}});
  add_pair("grouped_attention", attention_step, stock_attention_step,
           {{40, 50, 8, 2}, {8, 250, 8, 2}});
  add_pair("capped_attention", capped_attention_step, stock_capped_attention_step,
           {{40, 50, 8, 8}, {8, 250, 8, 8}});
  add_pair("gathered_attention", gathered_attention_call, stock_gathered_attention_call,
           {{240, 10, 8, 8}, {240, 40, 8, 8}, {240, 40, 8, 2}});
}

}  // namespace ballast::bench
