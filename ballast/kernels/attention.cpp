#include "ballast/kernels/attention.h"

#include <torch/autograd.h>

#include <algorithm>

#include "ballast/kernels/attention_loops.h"
#include "ballast/kernels/distance_bias.h"
#include "ballast/kernels/held.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"
#include "ballast/kernels/tasks.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct AttentionCall {
  AttentionShape shape;
  std::vector<AttentionSpan> spans;
  bool covered;  ///< every row lies in a sequence, so none is left to be set to 0
};

AttentionCall call_of(const AttentionInputs& inputs, const AttentionOptions& options) {
  const AttentionShape shape{options.heads,
                             options.key_value_heads,
                             inputs.query.size(1) / options.heads,
                             static_cast<float>(options.scale),
                             static_cast<float>(options.soft_cap),
                             options.causal,
                             drop_row_of(options.dropout)};
  AttentionCall call{shape, {}, inputs.queries.tokens() == inputs.query.size(0)};
  for (int64_t b = 0; b < inputs.queries.count(); ++b) {
    call.spans.push_back({inputs.queries.begin(b), inputs.queries.length(b), inputs.keys.begin(b),
                          inputs.keys.length(b), b});
  }
  return call;
}

/// Two sequences that share rows would add to the same gradients at the same time.
bool overlaps(std::vector<std::pair<int64_t, int64_t>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  return std::adjacent_find(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
           return a.second > b.first;
         }) != ranges.end();
}

bool overlaps(const Segments& segments) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t b = 0; b < segments.count(); ++b) {
    if (segments.length(b) == 0) continue;
    ranges.emplace_back(segments.begin(b), segments.begin(b) + segments.length(b));
  }
  return overlaps(std::move(ranges));
}

template <class Body>
void for_each_group(const AttentionCall& call, const Body& body) {
  const int64_t groups = call.shape.key_value_heads;
  for_each_task(static_cast<int64_t>(call.spans.size()) * groups,
                [&](int64_t task) { body(call.spans[task / groups], task % groups); });
}

/// The bias of every distance that occurs, and of as many more as a vector may read past them.
torch::Tensor widened(const AttentionInputs& inputs) {
  if (!inputs.relative_bias.defined()) return {};
  const int64_t most = std::max(inputs.queries.longest(), inputs.keys.longest());
  return bias_at(inputs.relative_bias,
                 torch::arange(-most, most + DistanceBias::spare, torch::kInt64));
}

DistanceBias distance_bias(const torch::Tensor& table) {
  if (!table.defined()) return {};
  const int64_t width = table.size(-1);
  return {table.data_ptr<float>(), width, (width - DistanceBias::spare) / 2};
}

torch::Tensor fresh(const torch::Tensor& like, bool covered) {
  return covered ? torch::empty_like(like) : torch::zeros_like(like);
}

struct FusedAttention : torch::autograd::Function<FusedAttention> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& query,
                               const torch::Tensor& key, const torch::Tensor& value,
                               const c10::optional<torch::Tensor>& bias,
                               const AttentionCall& call) {
    const torch::Tensor q = query.contiguous(), k = key.contiguous(), v = value.contiguous();
    torch::Tensor out = fresh(q, call.covered);
    const torch::Tensor log_sum = torch::empty({q.size(0), call.shape.heads}, q.options());
    const AttentionForward pass{call.shape,
                                q.data_ptr<float>(),
                                k.data_ptr<float>(),
                                v.data_ptr<float>(),
                                out.data_ptr<float>(),
                                log_sum.data_ptr<float>(),
                                distance_bias(bias.value_or(torch::Tensor()))};
    for_each_group(call,
                   [&](const AttentionSpan& span, int64_t group) { attend(pass, span, group); });
    hold(*context, call);
    context->save_for_backward({q, k, v, out, log_sum, bias.value_or(torch::Tensor())});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("attention");
    const variable_list saved = context->get_saved_variables();
    const auto& call = held<AttentionCall>(*context);
    const torch::Tensor gradient = gradients[0].contiguous();
    // Blocks of queries that see no key are left out of the pass.
    torch::Tensor query = torch::zeros_like(saved[0]);
    torch::Tensor key = torch::zeros_like(saved[1]), value = torch::zeros_like(saved[2]);
    const AttentionForward forward{call.shape,
                                   saved[0].data_ptr<float>(),
                                   saved[1].data_ptr<float>(),
                                   saved[2].data_ptr<float>(),
                                   saved[3].data_ptr<float>(),
                                   saved[4].data_ptr<float>(),
                                   distance_bias(saved[5])};
    torch::Tensor bias;
    if (saved[5].defined()) {
      bias = torch::zeros(
          {static_cast<int64_t>(call.spans.size()), saved[5].size(0), saved[5].size(1)});
    }
    const AttentionBackward pass{forward,
                                 gradient.data_ptr<float>(),
                                 query.data_ptr<float>(),
                                 key.data_ptr<float>(),
                                 value.data_ptr<float>(),
                                 distance_bias(bias)};
    for_each_group(call, [&](const AttentionSpan& span, int64_t group) {
      attend_backward(pass, span, group);
    });
    return {query, key, value, bias.defined() ? bias.sum(0) : bias, {}};
  }
};

}  // namespace

torch::Tensor attention(const AttentionInputs& inputs, const AttentionOptions& options) {
  if (!fused_serves({inputs.query, inputs.key, inputs.value, inputs.relative_bias}))
    return attention_reference(inputs, options);
  if (learns({inputs.query, inputs.key, inputs.value, inputs.relative_bias}) &&
      (overlaps(inputs.queries) || overlaps(inputs.keys))) {
    return attention_reference(inputs, options);
  }
  return FusedAttention::apply(inputs.query, inputs.key, inputs.value, given(widened(inputs)),
                               call_of(inputs, options));
}

}  // namespace ballast
