#include "bench/stock_transformer.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ballast/layers/positions.h"

namespace ballast::bench {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr int64_t longest = 1024;

/// [length, B, D] to [B H, length, K] for products over all heads.
torch::Tensor by_heads(const torch::Tensor& x, int64_t heads) {
  const int64_t length = x.size(0), batch = x.size(1), d_head = x.size(2) / heads;
  return x.contiguous().view({length, batch * heads, d_head}).transpose(0, 1);
}

torch::Tensor additive(const torch::Tensor& is_hidden) {
  return torch::zeros(is_hidden.sizes()).masked_fill_(is_hidden, minus_infinity);
}

torch::Tensor causal_mask(int64_t length) {
  return additive(torch::ones({1, length, length}, torch::kBool).triu(1));
}

}  // namespace

Padded padded(const Packed& packed, int64_t pad_id) {
  const auto lengths = packed.segments.lengths();
  const auto sequences = packed.tokens.split_with_sizes({lengths.data(), lengths.size()});
  const torch::Tensor tokens =
      torch::pad_sequence(sequences, /*batch_first=*/false, static_cast<double>(pad_id));
  return {tokens, tokens.t().eq(pad_id)};
}

PaddedBatch padded(const Batch& batch, int64_t pad_id) {
  PaddedBatch result;
  if (batch.source.segments.count() > 0) result.source = padded(batch.source, pad_id);
  result.target_input = padded(batch.target_input, pad_id);
  result.target_output =
      padded(Packed{batch.target_output, batch.target_input.segments}, pad_id).tokens;
  return result;
}

torch::Tensor padding_mask(const torch::Tensor& is_pad, int64_t heads) {
  const int64_t batch = is_pad.size(0), length = is_pad.size(1);
  return additive(is_pad)
      .view({batch, 1, 1, length})
      .expand({batch, heads, 1, length})
      .reshape({batch * heads, 1, length});
}

torch::Tensor StockAttention::to_self(const torch::Tensor& x, const torch::Tensor& mask) const {
  const std::vector<torch::Tensor> parts = in(x).chunk(3, -1);
  return attend(parts[0], parts[1], parts[2], mask);
}

torch::Tensor StockAttention::to_memory(const torch::Tensor& x, const torch::Tensor& memory,
                                        const torch::Tensor& mask) const {
  const int64_t d = x.size(-1);
  const std::vector<torch::Tensor> weights = in.weight.split_with_sizes({d, 2 * d});
  const std::vector<torch::Tensor> biases = in.bias.split_with_sizes({d, 2 * d});
  const std::vector<torch::Tensor> parts =
      torch::linear(memory, weights[1], biases[1]).chunk(2, -1);
  return attend(torch::linear(x, weights[0], biases[0]), parts[0], parts[1], mask);
}

torch::Tensor StockAttention::attend(const torch::Tensor& q, const torch::Tensor& k,
                                     const torch::Tensor& v, const torch::Tensor& mask) const {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1) / heads));
  const torch::Tensor scores =
      torch::baddbmm(mask, by_heads(q * scale, heads), by_heads(k, heads).transpose(1, 2));
  const torch::Tensor mixed = torch::bmm(torch::softmax(scores, -1), by_heads(v, heads));
  return out(mixed.transpose(0, 1).contiguous().view(q.sizes()));
}

StockTransformer::StockTransformer(const Transformer& ours, int64_t pad_id)
    : pad_id_(pad_id),
      dropout_(ours.options().dropout),
      embedding_scale_(std::sqrt(static_cast<double>(ours.options().d_model))) {
  embedding_ = own(ours.target_embedding->weight);
  positions_ = sinusoids(1, longest, ours.options().d_model).unsqueeze(1);
  if (ours.encoder) encoder = own(*ours.encoder, ours.options().heads);
  decoder = own(*ours.decoder, ours.options().heads);
}

torch::Tensor StockModel::own(const torch::Tensor& value) {
  return register_parameter(fmt::format("{}", parameters().size()), value.detach().clone());
}

StockLinear StockTransformer::own(const Linear& linear) {
  return {own(linear.weight), own(linear.bias)};
}

StockNorm StockTransformer::own(const Norm& norm) {
  return {own(norm.gain), own(norm.bias), norm.form().eps};
}

StockAttention StockTransformer::own(const Attention& attention, int64_t heads) {
  const auto& [q, k, v] = std::tie(attention.query, attention.key, attention.value);
  const StockLinear in{own(torch::cat({q->weight, k->weight, v->weight})),
                       own(torch::cat({q->bias, k->bias, v->bias}))};
  return {in, own(*attention.output), heads};
}

std::vector<StockBlock> StockTransformer::own(const BlockStack& stack, int64_t heads) {
  std::vector<StockBlock> blocks;
  for (const auto& from : stack.blocks) {
    StockBlock block;
    for (const auto& [branch, residual] : from->connections) {
      const StockNorm norm = own(*residual->norm_at(Point::stream));
      if (residual->site().kind == Sublayer::feed_forward) {
        const auto& feed_forward = dynamic_cast<const FeedForward&>(*branch);
        block.feed_forward_in = own(*feed_forward.in);
        block.feed_forward_out = own(*feed_forward.out);
        block.feed_forward_norm = norm;
      } else {
        const bool crosses = residual->site().kind == Sublayer::cross_attention;
        const auto& attention = dynamic_cast<const Attention&>(*branch);
        (crosses ? block.cross_attention : block.self_attention) = own(attention, heads);
        (crosses ? block.cross_attention_norm : block.self_attention_norm) = norm;
      }
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

torch::Tensor StockTransformer::dropped(const torch::Tensor& x) const {
  return torch::dropout(x, dropout_, is_training());
}

torch::Tensor StockTransformer::embedded(const torch::Tensor& tokens, int64_t first_place) const {
  const torch::Tensor rows = torch::embedding(embedding_, tokens, pad_id_) * embedding_scale_;
  return rows + positions_.slice(0, first_place, first_place + tokens.size(0));
}

torch::Tensor StockTransformer::fed_forward(const StockBlock& block, const torch::Tensor& x) const {
  const torch::Tensor branch = block.feed_forward_out(torch::relu(block.feed_forward_in(x)));
  return block.feed_forward_norm(x + dropped(branch));
}

torch::Tensor StockTransformer::encode(const Padded& source) const {
  const torch::Tensor mask = padding_mask(source.is_pad, encoder.front().self_attention.heads);
  torch::Tensor x = dropped(embedded(source.tokens, 0));
  for (const StockBlock& block : encoder) {
    x = block.self_attention_norm(x + dropped(block.self_attention.to_self(x, mask)));
    x = fed_forward(block, x);
  }
  return x;
}

torch::Tensor StockTransformer::decode(const torch::Tensor& tokens, const torch::Tensor& memory,
                                       const torch::Tensor& memory_mask) const {
  // Pads lie at the end, so the causal mask hides them from all that counts.
  const torch::Tensor mask = causal_mask(tokens.size(0));
  torch::Tensor x = dropped(embedded(tokens, 0));
  for (const StockBlock& block : decoder) {
    x = block.self_attention_norm(x + dropped(block.self_attention.to_self(x, mask)));
    if (memory.defined()) {
      const torch::Tensor read = block.cross_attention.to_memory(x, memory, memory_mask);
      x = block.cross_attention_norm(x + dropped(read));
    }
    x = fed_forward(block, x);
  }
  return x;
}

torch::Tensor StockTransformer::logits(const torch::Tensor& hidden) const {
  return torch::linear(hidden, embedding_);
}

torch::Tensor StockTransformer::loss(const PaddedBatch& batch, int64_t pad_id,
                                     double label_smoothing) const {
  torch::Tensor memory, memory_mask;
  if (!encoder.empty()) {
    memory = encode(batch.source);
    memory_mask = padding_mask(batch.source.is_pad, encoder.front().self_attention.heads);
  }
  const torch::Tensor scores = logits(decode(batch.target_input.tokens, memory, memory_mask));
  return torch::cross_entropy_loss(scores.flatten(0, 1), batch.target_output.flatten(), {},
                                   at::Reduction::Mean, pad_id, label_smoothing);
}

}  // namespace ballast::bench
