#include "ballast/diagnose/attention_sight.h"

#include <torch/torch.h>

#include <algorithm>

namespace ballast {
namespace {

constexpr int64_t fewest_keys = 4;  // a row that sees fewer says nothing of how sharp it looks

/// Rows of a sequence as [heads, length, K] in float64, each head repeated for those that share it.
torch::Tensor heads_of(const torch::Tensor& x, const Segments& segments, int64_t sequence,
                       int64_t heads, int64_t repeats) {
  const torch::Tensor rows =
      x.narrow(0, segments.begin(sequence), segments.length(sequence)).to(torch::kFloat64);
  return rows.view({rows.size(0), heads, -1}).transpose(0, 1).repeat_interleave(repeats, 0);
}

struct Sums {
  double deviation = 0, entropy = 0;
  int64_t rows = 0;
};

void add_rows(const torch::Tensor& logits, bool causal, Sums& sums) {
  const int64_t keys = logits.size(2), rows = logits.size(1);
  const torch::Tensor seen =
      torch::arange(keys).unsqueeze(0) <=
      (causal ? torch::arange(rows).unsqueeze(1) : torch::full({rows, 1}, keys, torch::kInt64));
  const torch::Tensor count = seen.sum(1);  // [rows]
  const torch::Tensor counts = count >= fewest_keys;
  const torch::Tensor mean = logits.masked_fill(~seen, 0).sum(2) / count;
  const torch::Tensor away = (logits - mean.unsqueeze(2)).square().masked_fill(~seen, 0);
  const torch::Tensor p = logits.masked_fill(~seen, -INFINITY).softmax(2);
  const torch::Tensor entropy = -torch::xlogy(p, p).sum(2) / count.to(torch::kFloat64).log();
  const torch::Tensor deviation = (away.sum(2) / count).sqrt();
  sums.deviation += deviation.index({torch::indexing::Slice(), counts}).sum().item<double>();
  sums.entropy += entropy.index({torch::indexing::Slice(), counts}).sum().item<double>();
  sums.rows += counts.sum().item<int64_t>() * logits.size(0);
}

}  // namespace

AttentionStatistics attention_statistics(const torch::Tensor& q, const torch::Tensor& k,
                                         const Segments& queries, const Segments& keys,
                                         const AttentionSight& sight, int64_t sequences) {
  Sums sums;
  AttentionStatistics found;
  for (int64_t i = 0; i < std::min(sequences, queries.count()); ++i) {
    const torch::Tensor own = heads_of(q, queries, i, sight.heads, 1);
    const torch::Tensor other =
        heads_of(k, keys, i, sight.key_value_heads, sight.heads / sight.key_value_heads);
    const torch::Tensor logits = own.matmul(other.transpose(1, 2)) * sight.scale;
    if (logits.numel() == 0) continue;
    found.largest = std::max(found.largest, logits.abs().max().item<double>());
    add_rows(logits, sight.causal, sums);
  }
  if (sums.rows == 0) return found;
  found.deviation = sums.deviation / static_cast<double>(sums.rows);
  found.entropy = sums.entropy / static_cast<double>(sums.rows);
  return found;
}

}  // namespace ballast
