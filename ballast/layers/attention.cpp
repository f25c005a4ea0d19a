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
  const LinearInput rows = shared(x);
  return attend(rows, segments, project(rows), segments);
}

torch::Tensor Attention::attend(const LinearInput& x, const Segments& queries,
                                const KeyValue& memory, const Segments& keys) const {
  const torch::Tensor q = query->forward(x);
  return output->forward(attention({q, memory.key, memory.value, queries, keys}, kernel_options()));
}

KeyValue Attention::project(const LinearInput& memory) const {
  return {key->forward(memory), value->forward(memory)};
}

torch::Tensor Attention::step(const torch::Tensor& x, KeyValueCache& cache,
                              const torch::Tensor& rows) const {
  const LinearInput input = shared(x);
  cache.append(project(input));
  const KeyValue all = cache.packed();
  return output->forward(
      gathered_attention({query->forward(input), all.key, all.value, rows}, kernel_options()));
}

AttentionOptions Attention::kernel_options() const {
  const int64_t d_head = options_.d_model / options_.heads;
  return {.heads = options_.heads,
          .key_value_heads = options_.heads,
          .scale = 1 / std::sqrt(static_cast<double>(d_head)),
          .causal = options_.causal,
          .dropout = dropout_->mask()};
}

LinearInput Attention::shared(const torch::Tensor& x) const {
  return LinearInput::shared(x, query->context().precision);
}

}  // namespace ballast
