#include "ballast/init/draw.h"

#include <ATen/ops/linalg_qr.h>

#include <algorithm>
#include <cmath>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/base/sampling.h"
#include "ballast/init/rule.h"
#include "ballast/theory/truncated_normal.h"

namespace ballast {
namespace {

torch::Tensor uniform_draw(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const double bound = std::sqrt(3.0) * draw.std;
  return uniform_numbers(shape, key).mul_(2 * bound).sub_(bound);
}

torch::Tensor truncated_draw(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const double widened = draw.std / std::sqrt(truncation_share(draw.cut));
  return truncated_normal_numbers(shape, key, -draw.cut, draw.cut).mul_(widened);
}

torch::Tensor orthogonal_draw(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const bool wide = shape[0] < shape[1];
  torch::Tensor gaussian = normal_numbers(shape, key);
  if (wide) gaussian = gaussian.t();
  const auto [q, r] = at::linalg_qr(gaussian, "reduced");
  // Without the signs of R's diagonal the result would not be Haar-uniform.
  const torch::Tensor haar = q * torch::sign(torch::diagonal(r));
  const double gain = draw.std * std::sqrt(static_cast<double>(std::max(shape[0], shape[1])));
  return (wide ? haar.t() : haar).contiguous().mul_(gain);
}

torch::Tensor constant_draw(const Draw& draw, at::IntArrayRef shape) {
  if (!draw.values.empty()) return torch::tensor(draw.values, torch::kFloat64).view(shape);
  return torch::full(shape, draw.mean, torch::kFloat64);
}

/// All of a tensor at once.
torch::Tensor filled(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
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
  return constant_draw(draw, shape);
}

torch::Tensor mirrored(const torch::Tensor& block, Mirror mirror) {
  const torch::Tensor row = column_blocks(mirror) == 2 ? torch::cat({block, -block}, 1) : block;
  return row_blocks(mirror) == 2 ? torch::cat({row, -row}) : row;
}

}  // namespace

torch::Tensor drawn(const Draw& draw, at::IntArrayRef shape, uint64_t key) {
  const torch::NoGradGuard no_grad;
  const bool one_by_one =
      draw.distribution == Distribution::orthogonal || draw.mirror != Mirror::none;
  if (!one_by_one) return filled(draw, shape, key);
  TORCH_CHECK(shape.size() == 2, "such a draw fills matrices, not tensors of rank ", shape.size());
  if (const std::string why = refusal_of(draw, shape[0], shape[1]); !why.empty()) {
    throw RecipeError(why);
  }
  const int64_t block[] = {shape[0] / draw.stacked / row_blocks(draw.mirror),
                           shape[1] / column_blocks(draw.mirror)};
  std::vector<torch::Tensor> matrices;
  for (int64_t i = 0; i < draw.stacked; ++i) {
    const uint64_t own = i == 0 ? key : mix(key, static_cast<uint64_t>(i));
    matrices.push_back(mirrored(filled(draw, block, own), draw.mirror));
  }
  return torch::cat(matrices);
}

}  // namespace ballast
