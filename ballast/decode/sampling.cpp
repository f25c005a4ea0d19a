#include "ballast/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ballast/base/philox.h"

namespace ballast {
namespace {

constexpr float impossible = -std::numeric_limits<float>::infinity();

struct Weighted {
  int64_t token = 0;
  float logit = 0;
  double weight = 0;  ///< of its probability, relative to the likeliest token's
};

bool is_likelier(const Weighted& a, const Weighted& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

/// In the order of the tokens; nothing where none is possible, or one beyond all numbers.
std::vector<Weighted> possible(std::span<const float> logits) {
  std::vector<Weighted> found;
  found.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] == -impossible) return {};
    if (logits[i] > impossible) found.push_back({static_cast<int64_t>(i), logits[i]});
  }
  return found;
}

double sum_of(const std::vector<Weighted>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0,
                         [](double sum, const Weighted& each) { return sum + each.weight; });
}

/// The likeliest come first, in order.
void bring_forward(std::vector<Weighted>& weights, size_t count) {
  const auto front = weights.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(weights.begin(), front, weights.end(), is_likelier);
}

void weigh(std::vector<Weighted>& weights, double temperature) {
  const float most = std::min_element(weights.begin(), weights.end(), is_likelier)->logit;
  for (Weighted& each : weights) {
    each.weight = std::exp((static_cast<double>(each.logit) - most) / temperature);
  }
}

/// The fewest of the likeliest with at least `share` of all the weight, in order. A few are enough
/// nearly always, so not all are sorted.
void keep_share(std::vector<Weighted>& weights, double share) {
  const double wanted = share * sum_of(weights);
  constexpr size_t first_try = 64, growth = 8;
  for (size_t sorted = std::min(first_try, weights.size());;
       sorted = std::min(sorted * growth, weights.size())) {
    bring_forward(weights, sorted);
    double sum = 0;
    size_t count = 0;
    while (count < sorted && (count == 0 || sum < wanted)) sum += weights[count++].weight;
    if (sum < wanted && sorted < weights.size()) continue;
    weights.resize(count);
    return;
  }
}

}  // namespace

double uniform_at(const DrawPlace& place, int64_t seed) {
  const uint64_t key = mix(static_cast<uint64_t>(seed), static_cast<uint64_t>(place.sentence));
  const auto words =
      philox(key, static_cast<uint64_t>(place.step), static_cast<uint64_t>(place.sample));
  return open_uniform((static_cast<uint64_t>(words[0]) << 32) | words[1]);
}

std::optional<int64_t> draw(std::span<const float> logits, const Cut& cut, double uniform) {
  std::vector<Weighted> weights = possible(logits);
  if (weights.empty()) return std::nullopt;
  const auto top_k = static_cast<size_t>(cut.top_k);
  if (top_k > 0 && top_k < weights.size()) {
    bring_forward(weights, top_k);
    weights.resize(top_k);
  }
  weigh(weights, cut.temperature);
  if (cut.top_p < 1) keep_share(weights, cut.top_p);
  if (cut.min_p > 0) {
    std::erase_if(weights, [&](const Weighted& each) { return each.weight < cut.min_p; });
  }
  double left = uniform * sum_of(weights);
  for (const Weighted& each : weights) {
    left -= each.weight;
    if (left < 0) return each.token;
  }
  return weights.back().token;  // what rounding left over
}

std::optional<int64_t> likeliest(std::span<const float> logits) {
  std::optional<int64_t> best;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > (best ? logits[static_cast<size_t>(*best)] : impossible)) {
      best = static_cast<int64_t>(i);
    }
  }
  return best;
}

}  // namespace ballast
