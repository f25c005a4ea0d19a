#include <limits>

#include "ballast/kernels/attention.h"
#include "ballast/kernels/distance_bias.h"
#include "ballast/kernels/seen_sums.h"

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
  const torch::Tensor query = inputs.query.alone();
  if (inputs.queries.tokens() == 0 || inputs.keys.tokens() == 0) {
    return query.masked_fill(torch::ones({}, query.options().dtype(torch::kBool)), 0.0);
  }
  const Padding queries = padding_of(inputs.queries, query.device());
  const Padding keys = padding_of(inputs.keys, query.device());
  const int64_t groups = options.key_value_heads;
  const torch::Tensor q = padded(query, queries, options.heads, options.heads);
  const torch::Tensor k = padded(inputs.key.alone(), keys, groups, options.heads);
  const torch::Tensor v = padded(inputs.value.alone(), keys, groups, options.heads);

  const torch::Tensor distance = distances(inputs, queries, keys);
  const torch::Tensor seen = visible(queries, keys, distance, options.causal);
  torch::Tensor scores = products_of_seen(q, k, seen) * options.scale;
  if (options.soft_cap > 0) {
    scores = (scores / options.soft_cap).tanh() * options.soft_cap;
  }
  if (inputs.relative_bias.defined()) {
    scores = scores + bias_at(inputs.relative_bias, distance.squeeze(1)).transpose(0, 1);
  }
  torch::Tensor weights = probabilities_of(scores, seen);
  if (options.dropout.active()) {
    weights = drop_probabilities(weights, queries, query.size(0), options);
  }
  const torch::Tensor mixed =
      sums_of_seen(weights, v, seen).transpose(1, 2).reshape({-1, query.size(1)});
  const torch::Tensor real = queries.real.flatten().nonzero().squeeze(1);
  const torch::Tensor rows = queries.rows.flatten().index_select(0, real);
  return torch::zeros_like(query).index_copy(0, rows, mixed.index_select(0, real));
}

}  // namespace ballast
