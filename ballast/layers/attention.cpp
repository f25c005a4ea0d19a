#include "ballast/layers/attention.h"

#include <cmath>

#include "ballast/kernels/gathered_attention.h"

namespace ballast {

Attention::Attention(const AttentionLayerOptions& options) : options_(options) {
  const int64_t d = options.d_model;
  const auto projection = [&](const std::string& name, Role role) {
    return register_module(name, std::make_shared<Linear>(LinearShape{d, d, role, options.site}));
  };
  query = projection("query", Role::query);
  key = projection("key", Role::key);
  value = projection("value", Role::value);
  output = projection("output", Role::attention_output);
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
}

torch::Tensor Attention::forward(const torch::Tensor& x, const Segments& segments) const {
  const int64_t d = options_.d_model;
  const torch::Tensor all = joined({query, key, value}, x);
  return output->forward(
      attention({{all, 0, d}, {all, d, d}, {all, 2 * d, d}, segments, segments}, kernel_options()));
}

torch::Tensor Attention::attend(const LinearInput& x, const Segments& queries,
                                const KeyValue& memory, const Segments& keys) const {
  const torch::Tensor q = query->forward(x);
  return output->forward(attention({q, memory.key, memory.value, queries, keys}, kernel_options()));
}

KeyValue Attention::project(const LinearInput& memory) const {
  const int64_t d = options_.d_model;
  const torch::Tensor both = joined({key, value}, memory);
  return {{both, 0, d}, {both, d, d}};
}

// A step reads each weight for a few rows only, which a copy of all weights would not be worth.
torch::Tensor Attention::step(const torch::Tensor& x, KeyValueCache& cache,
                              const torch::Tensor& rows) const {
  const auto input = LinearInput::shared(x, query->context().precision);
  cache.append({key->forward(input), value->forward(input)});
  const KeyValue all = cache.packed();
  return output->forward(gathered_attention(
      {query->forward(input), all.key.alone(), all.value.alone(), rows}, kernel_options()));
}

AttentionOptions Attention::kernel_options() const {
  const int64_t d_head = options_.d_model / options_.heads;
  return {.heads = options_.heads,
          .key_value_heads = options_.heads,
          .scale = 1 / std::sqrt(static_cast<double>(d_head)),
          .causal = options_.causal,
          .dropout = dropout_->mask()};
}

}  // namespace ballast
