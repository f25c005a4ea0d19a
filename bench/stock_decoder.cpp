#include <cmath>

#include "bench/stock_search.h"

namespace ballast::bench {
namespace {

/// [length, B, D] to [B H, length, K].
torch::Tensor by_heads(const torch::Tensor& x, int64_t heads) {
  const int64_t length = x.size(0), batch = x.size(1), d_head = x.size(2) / heads;
  return x.view({length, batch * heads, d_head}).transpose(0, 1).contiguous();
}

/// The groups of `size` rows that belong to the items.
torch::Tensor rows_of(const torch::Tensor& items, int64_t size) {
  return (items.unsqueeze(1) * size + torch::arange(size)).flatten();
}

}  // namespace

StockDecoder::StockDecoder(const StockTransformer& model, const torch::Tensor& memory,
                           const torch::Tensor& is_pad, int64_t beam)
    : model_(model),
      beam_(beam),
      heads_(model.decoder.front().self_attention.heads),
      memory_mask_(padding_mask(is_pad, heads_)) {
  const int64_t rows = memory.size(1) * beam, d = memory.size(2);
  for (const StockBlock& block : model.decoder) {
    const StockLinear& in = block.cross_attention.in;
    const auto parts =
        torch::linear(memory, in.weight.slice(0, d), in.bias.slice(0, d)).chunk(2, -1);
    StockCache cache;
    cache.cross_key = by_heads(parts[0].contiguous(), heads_);
    cache.cross_value = by_heads(parts[1].contiguous(), heads_);
    cache.self_key = torch::empty({rows, heads_, 0, d / heads_});
    cache.self_value = torch::empty({rows, heads_, 0, d / heads_});
    caches_.push_back(std::move(cache));
  }
}

torch::Tensor StockDecoder::step(const torch::Tensor& ids) {
  torch::Tensor x = model_.embedded(ids.unsqueeze(0), length_).squeeze(0);
  ++length_;
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    const StockBlock& block = model_.decoder[i];
    x = block.self_attention_norm(x + self_attended(block.self_attention, caches_[i], x));
    x = block.cross_attention_norm(x + cross_attended(block.cross_attention, caches_[i], x));
    const torch::Tensor branch = block.feed_forward_out(torch::relu(block.feed_forward_in(x)));
    x = block.feed_forward_norm(x + branch);
  }
  return model_.logits(x);
}

torch::Tensor StockDecoder::self_attended(const StockAttention& attention, StockCache& cache,
                                          const torch::Tensor& x) const {
  const int64_t rows = x.size(0), d = x.size(1), d_head = d / heads_;
  const auto parts = attention.in(x).chunk(3, -1);
  const auto row = [&](const torch::Tensor& t) { return t.reshape({rows, heads_, 1, d_head}); };
  cache.self_key = torch::cat({cache.self_key, row(parts[1])}, 2);
  cache.self_value = torch::cat({cache.self_value, row(parts[2])}, 2);
  const auto flat = [&](const torch::Tensor& t) { return t.view({rows * heads_, -1, d_head}); };
  const torch::Tensor q = flat(row(parts[0]) / std::sqrt(static_cast<double>(d_head)));
  const torch::Tensor scores = torch::bmm(q, flat(cache.self_key).transpose(1, 2));
  const torch::Tensor mixed = torch::bmm(torch::softmax(scores, -1), flat(cache.self_value));
  return attention.out(mixed.view({rows, d}));
}

torch::Tensor StockDecoder::cross_attended(const StockAttention& attention, const StockCache& cache,
                                           const torch::Tensor& x) const {
  const int64_t rows = x.size(0), d = x.size(1), d_head = d / heads_, batch = rows / beam_;
  const torch::Tensor q =
      torch::linear(x, attention.in.weight.slice(0, 0, d), attention.in.bias.slice(0, 0, d)) /
      std::sqrt(static_cast<double>(d_head));
  const torch::Tensor queries = q.view({batch, beam_, heads_, d_head})
                                    .transpose(1, 2)
                                    .reshape({batch * heads_, beam_, d_head});
  const torch::Tensor scores =
      torch::baddbmm(memory_mask_, queries, cache.cross_key.transpose(1, 2));
  const torch::Tensor mixed = torch::bmm(torch::softmax(scores, -1), cache.cross_value);
  return attention.out(
      mixed.view({batch, heads_, beam_, d_head}).transpose(1, 2).reshape({rows, d}));
}

void StockDecoder::reorder(const torch::Tensor& rows) {
  for (StockCache& cache : caches_) {
    cache.self_key = cache.self_key.index_select(0, rows);
    cache.self_value = cache.self_value.index_select(0, rows);
  }
}

void StockDecoder::keep_sentences(const torch::Tensor& sentences) {
  const torch::Tensor heads = rows_of(sentences, heads_);
  memory_mask_ = memory_mask_.index_select(0, heads);
  for (StockCache& cache : caches_) {
    cache.cross_key = cache.cross_key.index_select(0, heads);
    cache.cross_value = cache.cross_value.index_select(0, heads);
  }
}

}  // namespace ballast::bench
