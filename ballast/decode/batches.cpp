#include "ballast/decode/batches.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <numeric>
#include <ranges>

#include "ballast/data/packed_batch.h"
#include "ballast/model/evaluation_mode.h"

namespace ballast {
namespace {

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t batch_count(int64_t tokens, int64_t batch_tokens, int64_t threads) {
  constexpr int64_t least_tokens = 1024;
  const int64_t busy = std::clamp<int64_t>(tokens / least_tokens, 1, threads);
  return divided_up(divided_up(tokens, batch_tokens), busy) * busy;
}

std::vector<size_t> by_length(const Sources& sources) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].size() > 1) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() > sources[b].size(); });
  return order;
}

int64_t tokens_of(const Sources& sources, const std::vector<size_t>& order) {
  return std::accumulate(order.begin(), order.end(), int64_t{0}, [&](int64_t sum, size_t place) {
    return sum + static_cast<int64_t>(sources[place].size());
  });
}

}  // namespace

SourceBatches cut_batches(const Sources& sources, const DecodeOptions& options, int64_t threads) {
  SourceBatches cut;
  cut.order = by_length(sources);
  const int64_t tokens = tokens_of(sources, cut.order);
  const int64_t count = batch_count(tokens * options.width(), options.batch_tokens, threads);
  size_t first = 0;
  int64_t seen = 0;
  for (size_t i = 0; i < cut.order.size(); ++i) {
    seen += static_cast<int64_t>(sources[cut.order[i]].size());
    if (seen * count < tokens * static_cast<int64_t>(cut.batches.size() + 1)) continue;
    cut.batches.emplace_back(cut.order.data() + first, i + 1 - first);
    first = i + 1;
  }
  return cut;
}

Packed pack(const Sources& sources, std::span<const size_t> places, torch::Device device) {
  const auto source_at = [&](size_t place) { return std::span(sources[place]); };
  return pack(places | std::views::transform(source_at)).to(device);
}

struct ModelsAtWork::Scopes {
  EvaluationMode evaluating;
  PrecisionScope products;
};

ModelsAtWork::ModelsAtWork(std::span<Transformer* const> models, Precision precision)
    : models_(models.begin(), models.end()) {
  for (Transformer* model : models) {
    scopes_.emplace_back(new Scopes{EvaluationMode(*model), {model->context(), precision}});
  }
}

// Each scope restores what it found, so the last goes first.
ModelsAtWork::~ModelsAtWork() {
  while (!scopes_.empty()) scopes_.pop_back();
}

int64_t ModelsAtWork::threads() const { return device().is_cpu() ? at::get_num_threads() : 1; }

}  // namespace ballast
