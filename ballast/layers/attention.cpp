#include "ballast/layers/attention.h"

#include "ballast/kernels/gathered_attention.h"
#include "ballast/parameterization/standard_factor.h"

namespace ballast {

Attention::Attention(const AttentionLayerOptions& options)
    : options_(options), scale_(standard_factor(factors().front().facts)) {
  const int64_t d = options.d_model;
  const auto projection = [&](const std::string& name, Role role) {
    return register_module(name, std::make_shared<Linear>(LinearShape{d, d, role}));
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

torch::Tensor Attention::within(const torch::Tensor& x, const Segments& segments) const {
  const int64_t d = options_.d_model;
  const torch::Tensor all = joined({query, key, value}, x);
  const Columns q = at(Point::query, Columns{all, 0, d}), k = at(Point::key, Columns{all, d, d}),
                v = at(Point::value, Columns{all, 2 * d, d});
  return output->forward(
      at(Point::heads, attention({q, k, v, segments, segments}, kernel_options())));
}

torch::Tensor Attention::attend(const LinearInput& x, const Segments& queries,
                                const KeyValue& memory, const Segments& keys) const {
  const torch::Tensor q = at(Point::query, query->forward(x));
  return output->forward(
      at(Point::heads, attention({q, memory.key, memory.value, queries, keys}, kernel_options())));
}

KeyValue Attention::project(const LinearInput& memory) const {
  const int64_t d = options_.d_model;
  const torch::Tensor both = joined({key, value}, memory);
  return {at(Point::key, Columns{both, 0, d}), at(Point::value, Columns{both, d, d})};
}

// A step reads each weight for a few rows only, which a copy of all weights would not be worth.
torch::Tensor Attention::extend(const torch::Tensor& x, KeyValueCache& cache,
                                const torch::Tensor& rows) const {
  const auto input = LinearInput::shared(x, query->context().precision);
  cache.append({at(Point::key, key->forward(input)), at(Point::value, value->forward(input))});
  const KeyValue all = cache.packed();
  const torch::Tensor q = at(Point::query, query->forward(input));
  return output->forward(
      at(Point::heads,
         gathered_attention({q, all.key.alone(), all.value.alone(), rows}, kernel_options())));
}

AttentionOptions Attention::kernel_options() const {
  return {.heads = options_.heads,
          .key_value_heads = options_.heads,
          .scale = scale_,
          .causal = options_.causal,
          .dropout = dropout_->mask()};
}

std::vector<FactorSlot> Attention::factors() {
  return {{{Point::scores, options_.d_model / options_.heads}, &scale_}};
}

torch::Tensor SelfAttention::forward(const torch::Tensor& h, const Surroundings& around) const {
  return within(h, around.segments);
}

torch::Tensor SelfAttention::step(const torch::Tensor& h, BranchCache& cache,
                                  const Reading& reading) const {
  return extend(h, cache.rows, reading.lineage.rows());
}

torch::Tensor CrossAttention::forward(const torch::Tensor& h, const Surroundings& around) const {
  const Memory& memory = *around.memory;
  // Behind a node of its own, so that a block's gradients of the memory are one summand to the
  // encoder: then their sum has the same order, and the same bits, when the block is recomputed.
  const KeyValue projected = project({memory.rows.rows.alias(), memory.rows.bf16});
  return attend(h, around.segments, projected, memory.segments);
}

torch::Tensor CrossAttention::step(const torch::Tensor& h, BranchCache& cache,
                                   const Reading& reading) const {
  return attend(h, reading.readers, cache.memory, reading.sentences);
}

void CrossAttention::remember(const Memory& memory, BranchCache& cache) const {
  cache.memory = project(memory.rows);
}

}  // namespace ballast
