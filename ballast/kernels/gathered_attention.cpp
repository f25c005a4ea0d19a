#include "ballast/kernels/gathered_attention.h"

#include "ballast/kernels/select.h"
#include "ballast/loops/gathered_attention_loops.h"
#include "ballast/loops/tasks.h"

namespace ballast {

namespace {

/// That of the sequences whose length is T.
torch::Tensor whole_reference(const GatheredInputs& inputs, const AttentionOptions& options) {
  const int64_t count = inputs.rows.size(0), length = inputs.rows.size(1), heads = options.heads;
  const int64_t own = options.key_value_heads;
  const auto gathered = [&](const torch::Tensor& all) {
    return all.index_select(0, inputs.rows.flatten())
        .view({count, length, own, all.size(1) / own})
        .repeat_interleave(heads / own, 2)
        .transpose(1, 2);
  };
  const torch::Tensor q = inputs.query.view({count, heads, 1, inputs.query.size(1) / heads});
  torch::Tensor logits = torch::matmul(q, gathered(inputs.key).transpose(2, 3)) * options.scale;
  if (options.soft_cap > 0) logits = (logits / options.soft_cap).tanh() * options.soft_cap;
  if (inputs.bias.defined()) logits = logits + inputs.bias.unsqueeze(1);
  return torch::matmul(torch::softmax(logits, -1), gathered(inputs.value)).view_as(inputs.query);
}

/// Tasks that one sequence is cut into: its heads of keys, where it is long enough.
int64_t parts_of(const torch::Tensor& query, int64_t keys, const AttentionOptions& options) {
  constexpr int64_t worth_a_thread = 16384;
  const int64_t products = query.size(1) * keys;
  return products / options.key_value_heads >= worth_a_thread ? options.key_value_heads : 1;
}

}  // namespace

torch::Tensor gathered_attention_reference(const GatheredInputs& inputs,
                                           const AttentionOptions& options) {
  if (inputs.lengths.empty()) return whole_reference(inputs, options);
  std::vector<torch::Tensor> results{inputs.query.slice(0, 0, 0)};
  for (size_t b = 0; b < inputs.lengths.size(); ++b) {
    const auto at = static_cast<int64_t>(b);
    const int64_t length = inputs.lengths[b];
    torch::Tensor bias = inputs.bias;
    if (bias.defined()) bias = bias.slice(1, bias.size(1) - length);
    results.push_back(whole_reference({inputs.query.slice(0, at, at + 1), inputs.key, inputs.value,
                                       inputs.rows.slice(0, at, at + 1).slice(1, 0, length), bias},
                                      options));
  }
  return torch::cat(results);
}

torch::Tensor gathered_attention(const GatheredInputs& inputs, const AttentionOptions& options) {
  if (learns({inputs.query, inputs.key, inputs.value, inputs.bias}) ||
      !fused_serves({inputs.query, inputs.key, inputs.value, inputs.bias})) {
    return gathered_attention_reference(inputs, options);
  }
  const torch::Tensor query = inputs.query.contiguous(), key = inputs.key.contiguous();
  const torch::Tensor value = inputs.value.contiguous();
  const torch::Tensor rows = inputs.rows.stride(1) == 1 ? inputs.rows : inputs.rows.contiguous();
  torch::Tensor out = torch::empty_like(query), bias;
  if (inputs.bias.defined()) {
    bias = torch::constant_pad_nd(inputs.bias.detach(), {0, DistanceBias::spare}).contiguous();
  }
  const GatheredCall call{{options.heads,
                           options.key_value_heads,
                           query.size(1) / options.heads,
                           static_cast<float>(options.scale),
                           static_cast<float>(options.soft_cap),
                           false,
                           {}},
                          query.data_ptr<float>(),
                          key.data_ptr<float>(),
                          value.data_ptr<float>(),
                          bias.defined() ? bias.data_ptr<float>() : nullptr,
                          bias.defined() ? bias.size(1) : 0,
                          rows.data_ptr<int32_t>(),
                          rows.stride(0),
                          inputs.lengths.empty() ? nullptr : inputs.lengths.data(),
                          rows.size(1),
                          out.data_ptr<float>()};
  const int64_t parts = parts_of(query, rows.size(1), options);
  for_each_task(rows.size(0) * parts, [&](int64_t task) {
    attend_gathered(call, {task / parts, task % parts, parts});
  });
  return out;
}

}  // namespace ballast
