#include "ballast/decode/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ballast {

Ensemble::Ensemble(std::span<const Transformer* const> models, const Packed& sources,
                   int64_t rows_per_sentence) {
  for (const Transformer* model : models) {
    members_.push_back({model, model->start(model->encode(sources), rows_per_sentence)});
  }
}

torch::Tensor Ensemble::feed(const torch::Tensor& ids) {
  std::vector<torch::Tensor> logits;
  for (Member& member : members_) {
    const torch::Tensor hidden = member.model->step(ids, member.state);
    logits.push_back(member.model->logits(hidden).to(torch::kFloat32).cpu());
  }
  if (logits.size() == 1) return logits.front();
  for (torch::Tensor& each : logits) each = each.log_softmax(1);
  return torch::logsumexp(torch::stack(logits), 0) - std::log(logits.size());
}

void Ensemble::select(const torch::Tensor& rows, std::span<const int64_t> per_sentence) {
  for (Member& member : members_) member.state.select(rows, per_sentence);
}

int64_t longest_sequence(std::span<const Transformer* const> models) {
  int64_t longest = std::numeric_limits<int64_t>::max();
  for (const Transformer* model : models) longest = std::min(longest, model->longest_sequence());
  return longest;
}

}  // namespace ballast
