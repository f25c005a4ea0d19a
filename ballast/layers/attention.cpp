#include "ballast/layers/attention.h"

#include "ballast/kernels/gathered_attention.h"
#include "ballast/parameterization/standard_factor.h"

namespace ballast {

Attention::Attention(const AttentionLayerOptions& options)
    : options_(options),
      scale_(options.score_scale.value_or(
          standard_factor({Point::scores, options.d_model / options.heads}))) {
  const int64_t d = options.d_model;
  const auto projection = [&](const std::string& name, Role role) {
    return register_module(
        name, std::make_shared<Linear>(
                  LinearShape{.fan_in = d, .fan_out = d, .role = role, .form = options.weights}));
  };
  query = projection("query", Role::query);
  key = projection("key", Role::key);
  value = projection("value", Role::value);
  output = projection("output", Role::attention_output);
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
  for (const Point point : {Point::query, Point::key, Point::value, Point::heads}) {
    stand(options.standing, point, {d, options.heads});
  }
}

torch::Tensor Attention::within(const torch::Tensor& x, const Surroundings& around) const {
  const Segments& segments = around.segments;
  const int64_t d = options_.d_model;
  const torch::Tensor all = joined({query, key, value}, x);
  Columns q = at(Point::query, Columns{all, 0, d}, &segments);
  Columns k = at(Point::key, Columns{all, d, d}, &segments);
  const Columns v = at(Point::value, Columns{all, 2 * d, d}, &segments);
  if (const auto& positions = options_.positions; positions && positions->turns()) {
    const torch::Tensor places = places_of(segments, x.device());
    q = positions->turned(q, places);
    k = positions->turned(k, places);
  }
  return output->forward(at(
      Point::heads,
      attention({q, k, v, segments, segments, around.distance_bias}, kernel_options()), &segments));
}

torch::Tensor Attention::attend(const LinearInput& x, const Segments& queries,
                                const KeyValue& memory, const Segments& keys) const {
  const torch::Tensor q = at(Point::query, query->forward(x), &queries);
  return output->forward(
      at(Point::heads, attention({q, memory.key, memory.value, queries, keys}, kernel_options()),
         &queries));
}

KeyValue Attention::project(const Memory& memory) const {
  const int64_t d = options_.d_model;
  const torch::Tensor both = joined({key, value}, memory.rows);
  return {at(Point::key, Columns{both, 0, d}, &memory.segments),
          at(Point::value, Columns{both, d, d}, &memory.segments)};
}

// A step reads each weight for a few rows only, which a copy of all weights would not be worth.
torch::Tensor Attention::extend(const torch::Tensor& x, KeyValueCache& cache,
                                const torch::Tensor& rows) const {
  const auto input = LinearInput::shared(x, query->context().precision);
  Columns k = at(Point::key, key->forward(input)), q = at(Point::query, query->forward(input));
  const torch::Tensor v = at(Point::value, value->forward(input));
  torch::Tensor bias;
  if (const auto& positions = options_.positions) {
    const torch::Tensor place = torch::full({1}, rows.size(1) - 1, torch::kInt64);
    k = positions->turned(k, place);
    q = positions->turned(q, place);
    bias = positions->bias_of_last(rows.size(1));
  }
  cache.append({k, v});
  const KeyValue all = cache.packed();
  return output->forward(at(
      Point::heads, gathered_attention({q.alone(), all.key.alone(), all.value.alone(), rows, bias},
                                       kernel_options())));
}

AttentionOptions Attention::kernel_options() const {
  return {.heads = options_.heads,
          .key_value_heads = options_.heads,
          .scale = scale_,
          .causal = options_.causal,
          .dropout = dropout_->mask()};
}

std::vector<FactorSlot> Attention::factors() {
  if (options_.score_scale) return {};
  return {{{Point::scores, options_.d_model / options_.heads}, &scale_}};
}

torch::Tensor SelfAttention::forward(const torch::Tensor& h, const Surroundings& around) const {
  return within(h, around);
}

torch::Tensor SelfAttention::step(const torch::Tensor& h, BranchCache& cache,
                                  const Reading& reading) const {
  return extend(h, cache.rows, reading.lineage.rows());
}

torch::Tensor CrossAttention::forward(const torch::Tensor& h, const Surroundings& around) const {
  const Memory& memory = *around.memory;
  // Behind a node of its own, so that a block's gradients of the memory are one summand to the
  // encoder: then their sum has the same order, and the same bits, when the block is recomputed.
  const KeyValue projected =
      project({{memory.rows.rows.alias(), memory.rows.bf16}, memory.segments});
  return attend(h, around.segments, projected, memory.segments);
}

torch::Tensor CrossAttention::step(const torch::Tensor& h, BranchCache& cache,
                                   const Reading& reading) const {
  return attend(h, reading.readers, cache.memory, reading.sentences);
}

void CrossAttention::remember(const Memory& memory, BranchCache& cache) const {
  cache.memory = project(memory);
}

}  // namespace ballast
