#include "ballast/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ballast/base/philox.h"

namespace ballast {
namespace {

struct Weighted {
  int64_t token = 0;
  double weight = 0;  ///< of its probability, relative to the likeliest token's
};

std::vector<Weighted> weights_of(const std::vector<float>& logits, double temperature) {
  constexpr float impossible = -std::numeric_limits<float>::infinity();
  float most = impossible;
  for (const float logit : logits) most = std::max(most, logit);
  std::vector<Weighted> weights;
  if (!std::isfinite(most)) return weights;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > impossible)) continue;
    const double above = static_cast<double>(logits[i]) - most;
    weights.push_back({static_cast<int64_t>(i), std::exp(above / temperature)});
  }
  return weights;
}

double sum_of(const std::vector<Weighted>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0,
                         [](double sum, const Weighted& each) { return sum + each.weight; });
}

bool is_likelier(const Weighted& a, const Weighted& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

void keep_likeliest(std::vector<Weighted>& weights, size_t count) {
  const auto front = weights.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(weights.begin(), front, weights.end(), is_likelier);
  weights.erase(front, weights.end());
}

/// The fewest of the likeliest with at least `share` of all the weight.
void keep_share(std::vector<Weighted>& weights, double share) {
  std::sort(weights.begin(), weights.end(), is_likelier);
  const double wanted = share * sum_of(weights);
  double sum = 0;
  size_t count = 0;
  while (count < weights.size() && (count == 0 || sum < wanted)) sum += weights[count++].weight;
  weights.resize(count);
}

}  // namespace

double uniform_at(const DrawPlace& place, const RandomSampling& options) {
  const uint64_t key =
      mix(static_cast<uint64_t>(options.seed), static_cast<uint64_t>(place.sentence));
  const auto words =
      philox(key, static_cast<uint64_t>(place.step), static_cast<uint64_t>(place.sample));
  return open_uniform((static_cast<uint64_t>(words[0]) << 32) | words[1]);
}

std::optional<int64_t> draw(const std::vector<float>& logits, const RandomSampling& options,
                            double uniform) {
  std::vector<Weighted> weights = weights_of(logits, options.temperature);
  if (weights.empty()) return std::nullopt;
  const auto top_k = static_cast<size_t>(options.top_k);
  if (top_k > 0 && top_k < weights.size()) keep_likeliest(weights, top_k);
  if (options.top_p < 1) keep_share(weights, options.top_p);
  double left = uniform * sum_of(weights);
  for (const Weighted& each : weights) {
    left -= each.weight;
    if (left < 0) return each.token;
  }
  return weights.back().token;  // what rounding left over
}

}  // namespace ballast
