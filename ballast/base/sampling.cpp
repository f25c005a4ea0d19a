#include "ballast/base/sampling.h"

#include <ATen/Parallel.h>

#include <numbers>

#include "ballast/base/normal.h"
#include "ballast/base/philox.h"

namespace ballast {
namespace {

/// Inverse of the distribution function of N(0, 1).
torch::Tensor quantile(const torch::Tensor& u) {
  return torch::erfinv(u * 2 - 1) * std::numbers::sqrt2;
}

}  // namespace

torch::Tensor uniform_numbers(at::IntArrayRef shape, uint64_t key) {
  torch::Tensor made = torch::empty(shape, torch::kFloat64);
  double* out = made.data_ptr<double>();
  const int64_t count = made.numel();
  constexpr int64_t grain = 4096;
  at::parallel_for(0, (count + 1) / 2, grain, [&](int64_t first, int64_t last) {
    for (int64_t pair = first; pair < last; ++pair) {
      const auto words = philox(key, static_cast<uint64_t>(pair));
      const auto bits = [&](int i) { return static_cast<uint64_t>(words[i]) << 32 | words[i + 1]; };
      out[2 * pair] = open_uniform(bits(0));
      if (2 * pair + 1 < count) out[2 * pair + 1] = open_uniform(bits(2));
    }
  });
  return made;
}

torch::Tensor normal_numbers(at::IntArrayRef shape, uint64_t key) {
  return quantile(uniform_numbers(shape, key));
}

torch::Tensor truncated_normal_numbers(at::IntArrayRef shape, uint64_t key, double low,
                                       double high) {
  // Far above the mean 1 - u has no digits left, so an upper interval is drawn mirrored.
  if (low > 0) return truncated_normal_numbers(shape, key, -high, -low).neg();
  const double below = normal_distribution(low);
  const double inside = normal_distribution(high) - below;
  return quantile(uniform_numbers(shape, key) * inside + below).clamp_(low, high);
}

}  // namespace ballast
