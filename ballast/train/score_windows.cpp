#include "ballast/train/score_windows.h"

#include <algorithm>
#include <numeric>

#include "ballast/data/packed_batch.h"
#include "ballast/model/evaluation_mode.h"
#include "ballast/train/greedy.h"

namespace ballast {
namespace {

int64_t read_by(const Window& window) { return std::ssize(window.ids) - 1; }

/// The numbers of windows of similar length, within the limit.
std::vector<std::vector<int64_t>> batches_of(std::span<const Window> windows, int64_t most) {
  std::vector<int64_t> order(windows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return read_by(windows[i]); });
  std::vector<std::vector<int64_t>> batches;
  int64_t filled = 0;
  for (const int64_t i : order) {
    if (windows[i].scored == 0) continue;
    const int64_t tokens = read_by(windows[i]);
    if (batches.empty() || filled + tokens > most) {
      batches.emplace_back();
      filled = 0;
    }
    batches.back().push_back(i);
    filled += tokens;
  }
  return batches;
}

/// What a model reads of some windows, and what it is to predict.
struct WindowBatch {
  Packed read;
  torch::Tensor rows, targets;  ///< int64 [N] of all windows, end to end
};

WindowBatch batch_of(std::span<const Window> windows, std::span<const int64_t> chosen) {
  std::vector<std::span<const int64_t>> read;
  std::vector<int64_t> rows, targets;
  int64_t end = 0;
  for (const int64_t i : chosen) {
    const Window& window = windows[i];
    read.push_back(window.ids.first(window.ids.size() - 1));
    end += read_by(window);
    for (int64_t row = end - window.scored; row < end; ++row) rows.push_back(row);
    const auto predicted = window.ids.last(static_cast<std::size_t>(window.scored));
    targets.insert(targets.end(), predicted.begin(), predicted.end());
  }
  return {pack(read), torch::tensor(rows, torch::kInt64), torch::tensor(targets, torch::kInt64)};
}

}  // namespace

std::vector<Window> sliding_windows(std::span<const int64_t> ids, const Sliding& sliding) {
  std::vector<Window> windows;
  const int64_t all = std::ssize(ids);
  int64_t done = 1;
  for (int64_t begin = 0; done < all; begin += sliding.stride) {
    const int64_t end = std::min(begin + sliding.context + 1, all);
    windows.push_back(
        {ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
         end - done});
    done = end;
  }
  return windows;
}

WindowScores score_windows(Transformer& model, std::span<const Window> windows,
                           const Scoring& scoring) {
  const EvaluationMode evaluating(model);
  const torch::Device device = model.device();
  WindowScores scores{std::vector<WindowScore>(windows.size())};
  for (const auto& chosen : batches_of(windows, scoring.batch_tokens)) {
    const WindowBatch batch = batch_of(windows, chosen);
    const torch::Tensor targets = batch.targets.to(device);
    const torch::Tensor hidden =
        model.forward({}, batch.read.to(device)).index_select(0, batch.rows.to(device));
    const CrossEntropyInputs inputs = model.output->against(hidden, targets);
    const torch::Tensor log_p =
        target_log_probabilities(inputs).to(torch::kCPU, torch::kFloat64).contiguous();
    const bool smoothed = scoring.loss.smoothing != 0;
    if (smoothed) scores.loss += cross_entropy(inputs, scoring.loss).loss.item<double>();
    const torch::Tensor hits = scoring.greedy ? greedy_hits(inputs) : torch::Tensor();
    const auto* row = log_p.data_ptr<double>();
    int64_t begin = 0;
    for (const int64_t i : chosen) {
      const int64_t count = windows[i].scored, end = begin + count;
      scores.windows[i] = {std::accumulate(row + begin, row + end, 0.0), count,
                           scoring.greedy && hits.slice(0, begin, end).all().item<bool>()};
      if (!smoothed) scores.loss -= scores.windows[i].log_probability;
      begin = end;
    }
  }
  return scores;
}

}  // namespace ballast
