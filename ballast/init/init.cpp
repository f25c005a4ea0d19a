#include "ballast/init/init.h"

#include <ATen/ops/linalg_qr.h>

#include <algorithm>
#include <cmath>

#include "ballast/base/philox.h"
#include "ballast/base/sampling.h"
#include "ballast/theory/truncated_normal.h"

namespace ballast {
namespace {

constexpr double cut = 2;  // standard deviations, as in TensorFlow and JAX

torch::Tensor uniform_draw(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const double bound = std::sqrt(3.0) * draw.std;
  return uniform_numbers(shape, key).mul_(2 * bound).sub_(bound);
}

torch::Tensor truncated_draw(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const double widened = draw.std / std::sqrt(truncation_share(cut));
  return truncated_normal_numbers(shape, key, -cut, cut).mul_(widened);
}

torch::Tensor orthogonal_matrix(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const bool wide = shape[0] < shape[1];
  torch::Tensor gaussian = normal_numbers(shape, key);
  if (wide) gaussian = gaussian.t();
  const auto [q, r] = at::linalg_qr(gaussian, "reduced");
  // Without the signs of R's diagonal the result would not be Haar-uniform.
  const torch::Tensor haar = q * torch::sign(torch::diagonal(r));
  const double gain = draw.std * std::sqrt(static_cast<double>(std::max(shape[0], shape[1])));
  return (wide ? haar.t() : haar).contiguous().mul_(gain);
}

torch::Tensor orthogonal_draw(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  TORCH_CHECK(shape.size() == 2, "an orthogonal draw fills matrices, not tensors of rank ",
              shape.size());
  std::vector<torch::Tensor> matrices;
  for (int64_t i = 0; i < draw.stacked; ++i) {
    const uint64_t own = i == 0 ? key : mix(key, static_cast<uint64_t>(i));
    matrices.push_back(orthogonal_matrix(draw, {shape[0] / draw.stacked, shape[1]}, own));
  }
  return torch::cat(matrices);
}

}  // namespace

torch::Tensor drawn(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const torch::NoGradGuard no_grad;
  switch (draw.distribution) {
    case Distribution::normal:
      return normal_numbers(shape, key).mul_(draw.std).add_(draw.mean);
    case Distribution::uniform:
      return uniform_draw(draw, shape, key).add_(draw.mean);
    case Distribution::truncated_normal:
      return truncated_draw(draw, shape, key).add_(draw.mean);
    case Distribution::orthogonal:
      return orthogonal_draw(draw, shape, key);
    case Distribution::constant:
      break;
  }
  if (!draw.values.empty()) return torch::tensor(draw.values, torch::kFloat64).view(shape);
  return torch::full(shape, draw.mean, torch::kFloat64);
}

double family_variance(Family family, int64_t fan_in, int64_t fan_out) {
  const auto in = static_cast<double>(fan_in), out = static_cast<double>(fan_out);
  switch (family) {
    case Family::lecun:
      return 1 / in;
    case Family::glorot:
      return 2 / (in + out);
    case Family::he:
      break;
  }
  return 2 / in;
}

Draw Orthogonal::matrix(const ParameterFacts& facts) const {
  const auto longer = static_cast<double>(std::max(facts.fan_in, facts.fan_out));
  return {.distribution = Distribution::orthogonal,
          .std = gain / std::sqrt(longer),
          .stacked = facts.stacked};
}

Draw Fairseq::matrix(const ParameterFacts& facts) const {
  const bool stacked =
      facts.role == Role::query || facts.role == Role::key || facts.role == Role::value;
  const double variance = family_variance(Family::glorot, facts.fan_in, facts.fan_out);
  return {Distribution::uniform, std::sqrt(stacked ? variance / 2 : variance)};
}

Draw draw_of(const InitChoice& choice, const ParameterFacts& facts) {
  if (is_embedding(facts.role) || facts.role == Role::output) {
    return std::visit([&](const auto& rule) { return rule.table(facts); }, choice);
  }
  return std::visit([&](const auto& rule) { return rule.matrix(facts); }, choice);
}

}  // namespace ballast
