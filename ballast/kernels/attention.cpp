#include "ballast/kernels/attention.h"

#include <torch/autograd.h>

#include <algorithm>
#include <limits>

#include "ballast/kernels/attention_loops.h"
#include "ballast/kernels/held.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"
#include "ballast/kernels/tasks.h"

namespace ballast {
namespace {

/// Padded view of packed rows: which row stands at (sequence, position), and which are real.
struct Padding {
  torch::Tensor rows;  ///< int64 [B, T], 0 where there is none
  torch::Tensor real;  ///< bool [B, T]
};

Padding padding_of(const Segments& segments, torch::Device device) {
  const int64_t count = segments.count(), longest = segments.longest();
  torch::Tensor rows = torch::zeros({count, longest}, torch::kInt64);
  torch::Tensor real = torch::zeros({count, longest}, torch::kBool);
  for (int64_t b = 0; b < count; ++b) {
    const int64_t begin = segments.begin(b), length = segments.length(b);
    rows[b].slice(0, 0, length).copy_(torch::arange(begin, begin + length));
    real[b].slice(0, 0, length).fill_(true);
  }
  return {rows.to(device), real.to(device)};
}

/// [N, G K] rows to [B, H, T, K], each key or value head repeated for the query heads it serves.
torch::Tensor padded(const torch::Tensor& packed, const Padding& padding, int64_t own_heads,
                     int64_t heads) {
  const int64_t count = padding.rows.size(0), longest = padding.rows.size(1);
  const torch::Tensor gathered = packed.index_select(0, padding.rows.flatten());
  torch::Tensor split =
      gathered.view({count, longest, own_heads, packed.size(1) / own_heads}).transpose(1, 2);
  return own_heads == heads ? split : split.repeat_interleave(heads / own_heads, 1);
}

/// int64 [B, 1, T, S]: by how many places each key comes after each query.
torch::Tensor distances(const AttentionInputs& inputs, const Padding& queries,
                        const Padding& keys) {
  const auto integers = queries.rows.options();
  const auto lengths = [&](const Segments& segments) {
    const auto span = segments.lengths();
    return torch::tensor(std::vector<int64_t>(span.begin(), span.end()), torch::kInt64)
        .to(integers.device())
        .view({-1, 1, 1, 1});
  };
  const torch::Tensor ahead = lengths(inputs.keys) - lengths(inputs.queries);
  const torch::Tensor query = torch::arange(queries.rows.size(1), integers).view({1, 1, -1, 1});
  const torch::Tensor key = torch::arange(keys.rows.size(1), integers).view({1, 1, 1, -1});
  return key - query - ahead;
}

/// bool [B, 1, T, S]: which key each query sees.
torch::Tensor visible(const Padding& queries, const Padding& keys, const torch::Tensor& distance,
                      bool causal) {
  torch::Tensor seen = (queries.real.unsqueeze(2) & keys.real.unsqueeze(1)).unsqueeze(1);
  return causal ? seen & distance.le(0) : seen;
}

/// The columns of a bias [H, 2 R + 1] for distances of any shape, in front of which H comes.
torch::Tensor bias_at(const torch::Tensor& bias, const torch::Tensor& distance) {
  const int64_t reach = bias.size(1) / 2;
  const torch::Tensor columns = distance.clamp(-reach, reach) + reach;
  std::vector<int64_t> sizes = columns.sizes().vec();
  sizes.insert(sizes.begin(), bias.size(0));
  return bias.index_select(1, columns.flatten()).view(sizes);
}

/// Dropout factors of the padded probabilities [B, H, T, S], by the packed place of each.
torch::Tensor drop_probabilities(const torch::Tensor& probabilities, const Padding& queries,
                                 int64_t query_rows, const AttentionOptions& options) {
  const int64_t keys = probabilities.size(3), heads = options.heads;
  const torch::Tensor factors =
      drop_factors(options.dropout, query_rows * heads, keys, probabilities)
          .view({query_rows, heads, keys})
          .index_select(0, queries.rows.flatten())
          .view({queries.rows.size(0), queries.rows.size(1), heads, keys})
          .transpose(1, 2);
  return probabilities * factors;
}

torch::Tensor probabilities_of(const torch::Tensor& scores, const torch::Tensor& seen) {
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  // A row without a visible key would be 0 / 0, so its scores are finite and its result is masked.
  const torch::Tensor any = seen.any(-1, true);
  const torch::Tensor masked = scores.masked_fill(seen.logical_not() & any, lowest);
  return torch::softmax(masked, -1).masked_fill(seen.logical_not(), 0.0);
}

}  // namespace

torch::Tensor attention_reference(const AttentionInputs& inputs, const AttentionOptions& options) {
  if (inputs.queries.tokens() == 0 || inputs.keys.tokens() == 0) {
    return torch::zeros_like(inputs.query) * inputs.query;
  }
  const Padding queries = padding_of(inputs.queries, inputs.query.device());
  const Padding keys = padding_of(inputs.keys, inputs.query.device());
  const int64_t groups = options.key_value_heads;
  const torch::Tensor q = padded(inputs.query, queries, options.heads, options.heads);
  const torch::Tensor k = padded(inputs.key, keys, groups, options.heads);
  const torch::Tensor v = padded(inputs.value, keys, groups, options.heads);

  torch::Tensor scores = torch::matmul(q, k.transpose(2, 3)) * options.scale;
  if (options.soft_cap > 0) {
    scores = (scores / options.soft_cap).tanh() * options.soft_cap;
  }
  const torch::Tensor distance = distances(inputs, queries, keys);
  if (inputs.relative_bias.defined()) {
    scores = scores + bias_at(inputs.relative_bias, distance.squeeze(1)).transpose(0, 1);
  }
  torch::Tensor weights =
      probabilities_of(scores, visible(queries, keys, distance, options.causal));
  if (options.dropout.active()) {
    weights = drop_probabilities(weights, queries, inputs.query.size(0), options);
  }
  const torch::Tensor mixed =
      torch::matmul(weights, v).transpose(1, 2).reshape({-1, inputs.query.size(1)});
  const torch::Tensor real = queries.real.flatten().nonzero().squeeze(1);
  const torch::Tensor rows = queries.rows.flatten().index_select(0, real);
  return torch::zeros_like(inputs.query).index_copy(0, rows, mixed.index_select(0, real));
}

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
  if (learns({inputs.query, inputs.key, inputs.value}) &&
      (overlaps(inputs.queries) || overlaps(inputs.keys))) {
    return attention_reference(inputs, options);
  }
  return FusedAttention::apply(inputs.query, inputs.key, inputs.value, given(widened(inputs)),
                               call_of(inputs, options));
}

}  // namespace ballast
