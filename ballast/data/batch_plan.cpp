#include "ballast/data/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"

namespace ballast {
namespace {

struct Size {
  int64_t source = 0, target = 0;
};

Size size_of(const EncodedCorpus& corpus, int64_t i) {
  return {corpus.is_parallel() ? corpus.source.length(i) : 0, corpus.target_tokens(i)};
}

/// A number of 0 .. count - 1 from 64 random bits, by the high half of the product.
int64_t below(int64_t count, uint64_t bits) {
  return static_cast<int64_t>(
      (static_cast<unsigned __int128>(bits) * static_cast<unsigned __int128>(count)) >> 64);
}

void check(const EncodedCorpus& corpus, const BatchLimits& limits) {
  if (corpus.count() == 0) {
    throw DataError(
        fmt::format("no sequence is left for batches ({} were empty, {} too long); check the "
                    "files, or raise max_length",
                    corpus.dropped_empty, corpus.dropped_long));
  }
  for (int64_t i = 0; i < corpus.count(); ++i) {
    const Size size = size_of(corpus, i);
    if (std::max(size.source, size.target) <= limits.tokens) continue;
    throw DataError(fmt::format(
        "sequence {} has {} source and {} target tokens, but a batch may have {}; raise the tokens "
        "of a batch, or lower the longest sequence",
        i, size.source, size.target, limits.tokens));
  }
}

/// Cuts a list of sequences, similar ones side by side, into batches within the limits.
BatchPlan cut(const EncodedCorpus& corpus, const BatchLimits& limits,
              const std::vector<int64_t>& order) {
  BatchPlan plan;
  Size filled;
  for (const int64_t i : order) {
    const Size size = size_of(corpus, i);
    const bool fits = !plan.empty() && filled.source + size.source <= limits.tokens &&
                      filled.target + size.target <= limits.tokens &&
                      (limits.max_sequences == 0 ||
                       static_cast<int64_t>(plan.back().size()) < limits.max_sequences);
    if (!fits) {
      plan.emplace_back();
      filled = {};
    }
    plan.back().push_back(i);
    filled.source += size.source;
    filled.target += size.target;
  }
  return plan;
}

/// Sorts by length and cuts. Equal lengths keep their order, so whatever the order was, the lengths
/// come out in the same sequence and the batches have the same sizes.
BatchPlan plan(const EncodedCorpus& corpus, const BatchLimits& limits, std::vector<int64_t> order) {
  check(corpus, limits);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const Size x = size_of(corpus, a), y = size_of(corpus, b);
    return std::tie(x.target, x.source) < std::tie(y.target, y.source);
  });
  return cut(corpus, limits, order);
}

}  // namespace

std::vector<int64_t> permutation(int64_t count, uint64_t key) {
  std::vector<int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i) {
    const auto random = philox(key, static_cast<uint64_t>(i));
    const uint64_t bits = (static_cast<uint64_t>(random[1]) << 32) | random[0];
    std::swap(order[i], order[below(i + 1, bits)]);
  }
  return order;
}

BatchPlan plan_in_order(const EncodedCorpus& corpus, const BatchLimits& limits) {
  std::vector<int64_t> order(static_cast<std::size_t>(corpus.count()));
  std::iota(order.begin(), order.end(), 0);
  return plan(corpus, limits, std::move(order));
}

BatchPlan plan_epoch(const EncodedCorpus& corpus, const BatchLimits& limits, uint64_t seed,
                     int64_t epoch) {
  const uint64_t key = mix(seed, static_cast<uint64_t>(epoch));
  BatchPlan sorted =
      plan(corpus, limits, permutation(corpus.count(), mix(key, key_of("sequences"))));
  const auto order = permutation(static_cast<int64_t>(sorted.size()), mix(key, key_of("batches")));
  BatchPlan shuffled;
  shuffled.reserve(sorted.size());
  for (const int64_t i : order) shuffled.push_back(std::move(sorted[i]));
  return shuffled;
}

}  // namespace ballast
