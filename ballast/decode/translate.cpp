#include "ballast/decode/translate.h"

#include <algorithm>
#include <numeric>

#include "ballast/model/evaluation_mode.h"

namespace ballast {
namespace {

/// Places of the sources that have something to translate, longest first.
std::vector<size_t> by_length(const std::vector<std::vector<int64_t>>& sources) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].size() > 1) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() > sources[b].size(); });
  return order;
}

Packed packed(const std::vector<std::vector<int64_t>>& sources, std::span<const size_t> places,
              torch::Device device) {
  std::vector<int64_t> ids, lengths;
  for (const size_t place : places) {
    ids.insert(ids.end(), sources[place].begin(), sources[place].end());
    lengths.push_back(static_cast<int64_t>(sources[place].size()));
  }
  return {torch::tensor(ids, torch::kInt64).to(device), Segments::packed(lengths)};
}

}  // namespace

std::vector<Hypotheses> translate(Transformer& model,
                                  const std::vector<std::vector<int64_t>>& sources,
                                  const DecodeOptions& options,
                                  const TranslationProgress& progress) {
  const EvaluationMode evaluating(model);
  const torch::Device device = model.target_embedding->weight.device();
  const std::vector<size_t> order = by_length(sources);
  std::vector<Hypotheses> results(sources.size());
  size_t next = 0;
  while (next < order.size()) {
    const auto longest = static_cast<int64_t>(sources[order[next]].size());
    const int64_t count = std::max<int64_t>(1, options.batch_tokens / (longest * options.beam));
    const size_t end = std::min(order.size(), next + static_cast<size_t>(count));
    const std::span<const size_t> places(order.data() + next, end - next);
    auto found = beam_search(model, packed(sources, places, device), options);
    for (size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(found[i]);
    next = end;
    if (progress) progress(static_cast<int64_t>(next));
  }
  return results;
}

}  // namespace ballast
