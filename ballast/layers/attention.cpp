#include "ballast/layers/attention.h"

#include "ballast/kernels/gathered_attention.h"
#include "ballast/parameterization/standard_factor.h"

namespace ballast {

Attention::Attention(const AttentionLayerOptions& options)
    : options_(options),
      scale_(options.score_scale.value_or(standard_factor({Point::scores, options.d_head()}))) {
  const int64_t d = options.d_model, own = options.query_width();
  const int64_t shared = options.key_value_width();
  const auto projection = [&](const std::string& name, Role role, int64_t from, int64_t to) {
    return register_module(name,
                           std::make_shared<Linear>(LinearShape{.fan_in = from,
                                                                .fan_out = to,
                                                                .role = role,
                                                                .bias = options.bias,
                                                                .form = options.weights,
                                                                .head_width = options.d_head()}));
  };
  query = projection("query", Role::query, d, own);
  key = projection("key", Role::key, d, shared);
  value = projection("value", Role::value, d, shared);
  output = projection("output", Role::attention_output, own, d);
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
  for (const Point point : {Point::query, Point::heads}) {
    stand(options.standing, point, {own, options.heads});
  }
  for (const Point point : {Point::key, Point::value}) {
    stand(options.standing, point, {shared, shared / options.d_head()});
  }
}

torch::Tensor Attention::within(const torch::Tensor& x, const Surroundings& around,
                                KeyValueCache* cache) const {
  const Segments& segments = around.segments;
  const int64_t own = options_.query_width(), shared = options_.key_value_width();
  const torch::Tensor all = joined({query, key, value}, x);
  const Columns q = at(Point::query, Columns{all, 0, own}, &segments);
  const Columns k = at(Point::key, Columns{all, own, shared}, &segments);
  const Columns v = at(Point::value, Columns{all, own + shared, shared}, &segments);
  const KeyValue seen{turned(k, around.places), v};
  if (cache != nullptr) cache->append(seen);
  const torch::Tensor heads = attention(
      {turned(q, around.places), seen.key, seen.value, segments, segments, around.places.bias},
      kernel_options());
  return output->forward(at(Point::heads, heads, &segments));
}

torch::Tensor Attention::attend(const LinearInput& x, const Segments& queries,
                                const KeyValue& memory, const Segments& keys) const {
  const torch::Tensor q = at(Point::query, query->forward(x), &queries);
  return output->forward(
      at(Point::heads, attention({q, memory.key, memory.value, queries, keys}, kernel_options()),
         &queries));
}

KeyValue Attention::project(const Memory& memory) const {
  const int64_t shared = options_.key_value_width();
  const torch::Tensor both = joined({key, value}, memory.rows);
  return {at(Point::key, Columns{both, 0, shared}, &memory.segments),
          at(Point::value, Columns{both, shared, shared}, &memory.segments)};
}

// A step reads each weight for a few rows only, which a copy of all weights would not be worth.
torch::Tensor Attention::extend(const torch::Tensor& x, KeyValueCache& cache,
                                const Reading& reading) const {
  const auto input = LinearInput::shared(x, query->context().precision);
  const Columns k = at(Point::key, key->forward(input));
  cache.append({turned(k, reading.places), at(Point::value, value->forward(input))});
  const KeyValue all = cache.packed();
  const Columns q = turned(at(Point::query, query->forward(input)), reading.places);
  const torch::Tensor heads = gathered_attention(
      {q.alone(), all.key.alone(), all.value.alone(), reading.lineage.rows(x.device()),
       reading.places.bias, reading.lineage.lengths()},
      kernel_options());
  return output->forward(at(Point::heads, heads));
}

AttentionOptions Attention::kernel_options() const {
  return {.heads = options_.heads,
          .key_value_heads = options_.key_value_heads.value_or(options_.heads),
          .scale = scale_,
          .causal = options_.causal,
          .soft_cap = options_.soft_cap,
          .dropout = dropout_->mask()};
}

std::vector<FactorSlot> Attention::factors() {
  if (options_.score_scale) return {};
  return {{{Point::scores, options_.d_head()}, &scale_}};
}

torch::Tensor SelfAttention::forward(const torch::Tensor& h, const Surroundings& around) const {
  return within(h, around);
}

torch::Tensor SelfAttention::step(const torch::Tensor& h, BranchCache& cache,
                                  const Reading& reading) const {
  if (!reading.whole) return extend(h, cache.rows, reading);
  return within(h, {.segments = *reading.whole, .places = reading.places}, &cache.rows);
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
