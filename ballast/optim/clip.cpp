#include "ballast/optim/clip.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace ballast {
namespace {

constexpr int64_t chunk = 32768;  // fixed, so that the order of summation is

/// Sum of squares in independent lanes, which the compiler can keep in vector registers.
double sum_of_squares(const float* values, int64_t count) {
  constexpr int64_t lanes = 16;
  std::array<double, lanes> sums{};
  const int64_t even = count - count % lanes;
  for (int64_t i = 0; i < even; i += lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  for (int64_t i = even; i < count; ++i) sums[0] += double{values[i]} * values[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double sum_of_squares_chunked(const torch::Tensor& gradient) {
  const float* values = gradient.data_ptr<float>();
  const int64_t count = gradient.numel();
  std::vector<double> sums((count + chunk - 1) / chunk);
  at::parallel_for(0, static_cast<int64_t>(sums.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = sum_of_squares(values + i * chunk, std::min(chunk, count - i * chunk));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

torch::Tensor norm_as_tensor(const torch::Tensor& gradient) {
  return at::linalg_vector_norm(gradient, 2, c10::nullopt, false, torch::kDouble);
}

}  // namespace

double gradient_norm(std::span<const OptimizedParameter> parameters) {
  const torch::NoGradGuard no_grad;
  double sum = 0;
  std::vector<torch::Tensor> elsewhere;  // norms still on a device, fetched in one go
  for (const OptimizedParameter& parameter : parameters) {
    const torch::Tensor& gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    if (gradient.is_cpu() && gradient.scalar_type() == torch::kFloat) {
      sum += sum_of_squares_chunked(gradient.contiguous());
    } else {
      elsewhere.push_back(norm_as_tensor(gradient));
    }
  }
  if (!elsewhere.empty()) sum += torch::stack(elsewhere).square().sum().item<double>();
  return std::sqrt(sum);
}

std::string first_non_finite_gradient(std::span<const OptimizedParameter> parameters) {
  for (const OptimizedParameter& parameter : parameters) {
    if (!std::isfinite(gradient_norm({&parameter, 1}))) return parameter.name;
  }
  return {};
}

std::optional<double> clip_scale(double norm, double max_norm) {
  if (!std::isfinite(norm)) return std::nullopt;
  return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
}

}  // namespace ballast
