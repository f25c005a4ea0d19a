#include "ballast/decode/translate.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "ballast/kernels/tasks.h"
#include "ballast/model/evaluation_mode.h"

namespace ballast {
namespace {

using Places = std::span<const size_t>;

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

Packed packed(const std::vector<std::vector<int64_t>>& sources, Places places,
              torch::Device device) {
  std::vector<int64_t> ids, lengths;
  for (const size_t place : places) {
    ids.insert(ids.end(), sources[place].begin(), sources[place].end());
    lengths.push_back(static_cast<int64_t>(sources[place].size()));
  }
  return {torch::tensor(ids, torch::kInt64).to(device), Segments::packed(lengths)};
}

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How many batches to make of so many source tokens times beam: what `batch_tokens` asks for, and
/// equally many for every thread, unless they became too small to fill a matrix product.
int64_t batch_count(int64_t tokens, int64_t batch_tokens, int64_t threads) {
  constexpr int64_t least_tokens = 1024;
  const int64_t busy = std::clamp<int64_t>(tokens / least_tokens, 1, threads);
  return divided_up(divided_up(tokens, batch_tokens), busy) * busy;
}

int64_t tokens_of(const std::vector<std::vector<int64_t>>& sources,
                  const std::vector<size_t>& order) {
  return std::accumulate(order.begin(), order.end(), int64_t{0}, [&](int64_t sum, size_t place) {
    return sum + static_cast<int64_t>(sources[place].size());
  });
}

/// Cuts the order into `count` batches, or fewer, of about equally many source tokens.
std::vector<Places> cut(const std::vector<std::vector<int64_t>>& sources,
                        const std::vector<size_t>& order, int64_t count) {
  const int64_t tokens = tokens_of(sources, order);
  std::vector<Places> batches;
  size_t first = 0;
  int64_t seen = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    seen += static_cast<int64_t>(sources[order[i]].size());
    if (seen * count < tokens * static_cast<int64_t>(batches.size() + 1)) continue;
    batches.emplace_back(order.data() + first, i + 1 - first);
    first = i + 1;
  }
  return batches;
}

}  // namespace

// A batch keeps to one thread, for threads that shared each of its many small operations would
// mostly wait for each other; a single batch has all of them.
std::vector<Hypotheses> translate(Transformer& model,
                                  const std::vector<std::vector<int64_t>>& sources,
                                  const DecodeOptions& options, const TranslationProgress& progress,
                                  const SpecialIds& special) {
  const EvaluationMode evaluating(model);
  const PrecisionScope products(model.context(), options.precision);
  const torch::Device device = model.target_embedding->weight.device();
  const std::vector<size_t> order = by_length(sources);
  const int64_t threads = device.is_cpu() ? at::get_num_threads() : 1;
  const int64_t tokens = tokens_of(sources, order) * options.beam;
  const auto batches = cut(sources, order, batch_count(tokens, options.batch_tokens, threads));
  std::vector<Hypotheses> results(sources.size());
  std::mutex counting;
  size_t done = 0;
  const auto translate_one = [&](Places places) {
    auto found = beam_search(model, packed(sources, places, device), options, special);
    for (size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(found[i]);
    const std::lock_guard lock(counting);
    done += places.size();
    if (progress) progress(static_cast<int64_t>(done));
  };
  if (device.is_cpu()) {
    for_each_task(static_cast<int64_t>(batches.size()),
                  [&](int64_t batch) { translate_one(batches[batch]); });
  } else {
    for (const Places places : batches) translate_one(places);
  }
  return results;
}

}  // namespace ballast
