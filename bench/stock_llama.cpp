#include "bench/stock_llama.h"

#include <cmath>
#include <limits>

#include "ballast/model/block.h"

namespace ballast::bench {
namespace {

constexpr int64_t longest = 1024;

torch::Tensor normed(const torch::Tensor& x, const torch::Tensor& gain, double eps) {
  return x * torch::rsqrt(x.square().mean(-1, true) + eps) * gain;
}

}  // namespace

StockLinear StockLlama::own(const std::vector<const Linear*>& linears) {
  std::vector<torch::Tensor> weights;
  for (const Linear* each : linears) weights.push_back(each->weight.detach());
  return {StockModel::own(torch::cat(weights)), torch::Tensor()};
}

StockLlama::StockLlama(const Transformer& ours)
    : heads_(ours.options().heads), eps_(ours.decoder->norm_at(Point::stack)->form().eps) {
  embedding_ = StockModel::own(ours.target_embedding->weight);
  output_ = StockModel::own(ours.output->weight());
  gain_ = StockModel::own(ours.decoder->norm_at(Point::stack)->gain);
  const int64_t half = ours.options().d_model / heads_ / 2;
  const torch::Tensor steps = torch::arange(half, torch::kFloat64) / static_cast<double>(half);
  const torch::Tensor angles =
      torch::outer(torch::arange(longest, torch::kFloat64), torch::pow(10000.0, -steps));
  cosine_ = torch::cat({angles.cos(), angles.cos()}, 1).to(torch::kFloat32);
  sine_ = torch::cat({angles.sin(), angles.sin()}, 1).to(torch::kFloat32);
  for (const auto& block : ours.decoder->blocks) {
    const auto& attention = block->branch<SelfAttention>(Sublayer::self_attention);
    const auto& feed_forward = block->branch<FeedForward>(Sublayer::feed_forward);
    const auto gain = [&](Sublayer kind) {
      return StockModel::own(block->at(kind).residual->norm_at(Point::read)->gain);
    };
    blocks_.push_back({gain(Sublayer::self_attention), gain(Sublayer::feed_forward),
                       own({attention.query.get(), attention.key.get(), attention.value.get()}),
                       own({attention.output.get()}), own({feed_forward.in.get()}),
                       own({feed_forward.out.get()})});
  }
}

/// x [B, H, T, K] by its places.
torch::Tensor StockLlama::turned(const torch::Tensor& x) const {
  const int64_t length = x.size(2);
  const std::vector<torch::Tensor> halves = x.chunk(2, -1);
  return x * cosine_.slice(0, 0, length) +
         torch::cat({-halves[1], halves[0]}, -1) * sine_.slice(0, 0, length);
}

torch::Tensor StockLlama::attended(const Block& block, const torch::Tensor& x) const {
  const int64_t batch = x.size(0), length = x.size(1), d = x.size(2);
  const torch::Tensor all =
      block.joined(x).view({batch, length, 3, heads_, d / heads_}).permute({2, 0, 3, 1, 4});
  const double scale = 1 / std::sqrt(static_cast<double>(d / heads_));
  // Pads lie at the end, so the causal mask hides them from all that counts.
  const torch::Tensor hidden = torch::ones({length, length}, torch::kBool).triu(1);
  const torch::Tensor scores = torch::matmul(turned(all[0]) * scale, turned(all[1]).transpose(2, 3))
                                   .masked_fill(hidden, -std::numeric_limits<float>::infinity());
  const torch::Tensor mixed = torch::matmul(torch::softmax(scores, -1), all[2]);
  return block.output(mixed.transpose(1, 2).reshape({batch, length, d}));
}

torch::Tensor StockLlama::loss(const PaddedBatch& batch, int64_t pad_id,
                               double label_smoothing) const {
  torch::Tensor x = torch::embedding(embedding_, batch.target_input.tokens.t().contiguous());
  for (const Block& block : blocks_) {
    x = x + attended(block, normed(x, block.attention_gain, eps_));
    const std::vector<torch::Tensor> pair =
        block.in(normed(x, block.feed_forward_gain, eps_)).chunk(2, -1);
    x = x + block.out(torch::silu(pair[0]) * pair[1]);
  }
  const torch::Tensor logits = torch::linear(normed(x, gain_, eps_), output_);
  return torch::cross_entropy_loss(logits.flatten(0, 1), batch.target_output.t().flatten(), {},
                                   at::Reduction::Mean, pad_id, label_smoothing);
}

}  // namespace ballast::bench
