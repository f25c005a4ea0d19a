#include "ballast/kernels/candidates.h"

#include <algorithm>
#include <limits>

#include "ballast/kernels/select.h"
#include "ballast/loops/candidates_loops.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

template <class T>
at::ArrayRef<T> list(std::span<const T> values) {
  return {values.data(), values.size()};
}

}  // namespace

std::vector<double> log_normalizers_reference(const torch::Tensor& logits) {
  const torch::Tensor sums = torch::logsumexp(logits.to(torch::kFloat64), 1).cpu();
  return {sums.data_ptr<double>(), sums.data_ptr<double>() + sums.numel()};
}

std::vector<double> log_normalizers(const torch::Tensor& logits) {
  if (!fused_serves(logits)) return log_normalizers_reference(logits);
  const torch::Tensor rows = logits.contiguous();
  const RowBlocks blocks(rows.size(0), 8, 64);
  std::vector<double> normalizers(rows.size(0));
  for_each_task(blocks.count(), [&](int64_t block) {
    for (int64_t row = blocks.begin(block); row < blocks.end(block); ++row) {
      normalizers[row] = log_normalizer(rows.data_ptr<float>() + row * rows.size(1), rows.size(1));
    }
  });
  return normalizers;
}

std::vector<std::vector<Candidate>> best_candidates_reference(const CandidateInputs& inputs) {
  constexpr double impossible = -std::numeric_limits<double>::infinity();
  const int64_t columns = inputs.logits.size(1);
  const torch::Tensor offsets = torch::tensor(list(inputs.offsets), inputs.logits.options());
  const torch::Tensor left_out = torch::tensor(list(inputs.excluded), torch::kInt64);
  const torch::Tensor scores =
      (inputs.logits + offsets.unsqueeze(1)).index_fill(1, left_out, impossible);
  for (size_t row = 0; row < inputs.forbidden.size(); ++row) {
    const std::span<const int64_t> columns_of_row = inputs.forbidden[row];
    scores[static_cast<int64_t>(row)].index_fill_(
        0, torch::tensor(list(columns_of_row), torch::kInt64), impossible);
  }
  std::vector<std::vector<Candidate>> all(inputs.groups.count());
  for (int64_t g = 0; g < inputs.groups.count(); ++g) {
    const int64_t first = inputs.groups.begin(g);
    const torch::Tensor own = scores.slice(0, first, first + inputs.groups.length(g)).flatten();
    const auto [values, places] = own.topk(std::min(inputs.count, own.numel()));
    for (int64_t i = 0; i < values.numel(); ++i) {
      const auto place = places[i].item<int64_t>();
      const auto score = values[i].item<float>();
      if (score > impossible) all[g].push_back({first + place / columns, place % columns, score});
    }
  }
  return all;
}

std::vector<std::vector<Candidate>> best_candidates(const CandidateInputs& inputs) {
  if (!fused_serves(inputs.logits)) return best_candidates_reference(inputs);
  const torch::Tensor logits = inputs.logits.contiguous();
  const ScoreRows scores{logits.data_ptr<float>(), logits.size(1), inputs.offsets.data(),
                         inputs.excluded, inputs.forbidden};
  std::vector<std::vector<Candidate>> all(inputs.groups.count());
  for_each_task(inputs.groups.count(), [&](int64_t g) {
    all[g] = best_of_rows(scores, inputs.groups.begin(g), inputs.groups.length(g), inputs.count);
  });
  return all;
}

}  // namespace ballast
