#include "bench/stock_generator.h"

#include <cmath>

#include "ballast/model/block.h"

namespace ballast::bench {
namespace {

constexpr double eps = 1e-5;

torch::Tensor normed(const torch::Tensor& x, const torch::Tensor& gain) {
  const torch::Tensor wide = x.to(torch::kFloat32);
  return (wide * torch::rsqrt(wide.square().mean(-1, true) + eps)).to(x.scalar_type()) * gain;
}

}  // namespace

StockLinear StockGenerator::own(const Linear& linear) const {
  const torch::Tensor weight = linear.weight.detach() * linear.multiplier;
  return {weight.to(type_),
          linear.bias.defined() ? linear.bias.detach().to(type_) : torch::Tensor()};
}

StockGenerator::StockGenerator(const Transformer& ours, int64_t longest, torch::ScalarType type)
    : type_(type),
      heads_(ours.options().heads),
      embedding_factor_(ours.target_embedding->factor()),
      logit_factor_(ours.output->acting_multiplier()) {
  const torch::NoGradGuard no_grad;
  embedding_ = ours.target_embedding->weight.detach().to(type);
  output_ = ours.output->weight().detach().to(type);
  gain_ = ours.decoder->norm_at(Point::stack)->gain.detach().to(type);
  const int64_t d = ours.options().d_model, half = d / heads_ / 2;
  const torch::Tensor steps = torch::arange(half, torch::kFloat64) / static_cast<double>(half);
  const torch::Tensor angles =
      torch::outer(torch::arange(longest, torch::kFloat64), torch::pow(10000.0, -steps));
  cosine_ = torch::cat({angles.cos(), angles.cos()}, 1).to(type);
  sine_ = torch::cat({angles.sin(), angles.sin()}, 1).to(type);
  for (const auto& block : ours.decoder->blocks) {
    const auto& attention = block->branch<SelfAttention>(Sublayer::self_attention);
    const auto& feed_forward = block->branch<FeedForward>(Sublayer::feed_forward);
    const StockLinear q = own(*attention.query), k = own(*attention.key), v = own(*attention.value);
    const auto gain = [&](Sublayer kind) {
      return block->at(kind).residual->norm_at(Point::read)->gain.detach().to(type);
    };
    blocks_.push_back({gain(Sublayer::self_attention),
                       gain(Sublayer::feed_forward),
                       {torch::cat({q.weight, k.weight, v.weight}),
                        q.bias.defined() ? torch::cat({q.bias, k.bias, v.bias}) : torch::Tensor()},
                       own(*attention.output),
                       own(*feed_forward.in),
                       own(*feed_forward.out),
                       torch::zeros({heads_, longest, 2 * half}, type),
                       torch::zeros({heads_, longest, 2 * half}, type)});
  }
}

/// x [H, T, K] by the places behind what there is.
torch::Tensor StockGenerator::turned(const torch::Tensor& x) const {
  const int64_t end = length_ + x.size(1);
  const std::vector<torch::Tensor> halves = x.chunk(2, -1);
  return x * cosine_.slice(0, length_, end) +
         torch::cat({-halves[1], halves[0]}, -1) * sine_.slice(0, length_, end);
}

torch::Tensor StockGenerator::attended(Block& block, const torch::Tensor& x) {
  const int64_t count = x.size(0), end = length_ + count, d = x.size(1);
  const torch::Tensor all =
      block.joined(x).view({count, 3, heads_, d / heads_}).permute({1, 2, 0, 3});
  block.keys.slice(1, length_, end).copy_(turned(all[1]));
  block.values.slice(1, length_, end).copy_(all[2]);
  torch::Tensor scores =
      torch::matmul(turned(all[0]), block.keys.slice(1, 0, end).transpose(1, 2)) /
      std::sqrt(static_cast<double>(d / heads_));
  if (count > 1) {
    scores.masked_fill_(torch::ones({count, end}, torch::kBool).triu(1 + length_), -INFINITY);
  }
  const torch::Tensor mixed =
      torch::matmul(torch::softmax(scores, -1), block.values.slice(1, 0, end));
  return block.output(mixed.transpose(0, 1).reshape({count, d}));
}

torch::Tensor StockGenerator::pass(const torch::Tensor& ids) {
  torch::Tensor x = torch::embedding(embedding_, ids) * embedding_factor_;
  for (Block& block : blocks_) {
    x = x + attended(block, normed(x, block.attention_gain));
    const std::vector<torch::Tensor> pair =
        block.in(normed(x, block.feed_forward_gain)).chunk(2, -1);
    x = x + block.out(torch::silu(pair[0]) * pair[1]);
  }
  length_ += ids.size(0);
  const torch::Tensor last = normed(x.slice(0, x.size(0) - 1), gain_);
  return (torch::linear(last, output_) * logit_factor_).to(torch::kFloat32)[0];
}

torch::Tensor StockGenerator::read(const std::vector<int64_t>& prompt) {
  length_ = 0;
  return pass(torch::tensor(prompt, torch::kInt64));
}

torch::Tensor StockGenerator::step(int64_t token) {
  return pass(torch::full({1}, token, torch::kInt64));
}

}  // namespace ballast::bench
