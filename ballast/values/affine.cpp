#include "ballast/values/affine.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <stdexcept>

#include "ballast/base/error.h"
#include "ballast/kernels/norm.h"
#include "ballast/values/foldable.h"

namespace ballast {
namespace {

torch::Tensor product(const torch::Tensor& a, const torch::Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a * b : a;
}

torch::Tensor sum(const torch::Tensor& a, const torch::Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

/// The gain as it acts, undefined where there is none.
torch::Tensor acting_gain(const Norm& norm) {
  if (!norm.gain.defined()) return {};
  return wide(norm.gain) + (norm.form().one_plus_gain ? 1.0 : 0.0);
}

torch::Tensor as_column(const torch::Tensor& scale) {
  return scale.dim() == 0 ? scale : scale.unsqueeze(1);
}

}  // namespace

torch::Tensor wide(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kCPU, torch::kDouble);
}

Affine Affine::then(const Affine& next) const {
  return {product(scale, next.scale),
          sum(shift.defined() ? product(shift, next.scale) : shift, next.shift)};
}

Affine times(const torch::Tensor& scale) {
  if ((scale == 1).all().item<bool>()) return {};
  return {scale, {}};
}

Affine fixed(const Norm& norm) {
  const NormForm& form = norm.form();
  const torch::Tensor root =
      norm_divisor(wide(norm.running_second),
                   {form.center ? Statistic::layer : Statistic::rms, form.eps, form.placement});
  const torch::Tensor scale = product(1 / root, acting_gain(norm));
  return {scale, sum(-wide(norm.running_mean) * scale,
                     norm.bias.defined() ? wide(norm.bias) : torch::Tensor())};
}

Dense::Dense(const Linear& layer)
    : weight_(wide(layer.acting_weight()) * layer.multiplier),
      bias_(layer.bias.defined() ? wide(layer.bias) : torch::Tensor()) {}

Dense& Dense::reads(const Affine& map) {
  if (map.shift.defined()) {
    const torch::Tensor shift = map.shift.expand({weight_.size(1)});
    bias_ = sum(bias_, weight_.mv(shift));
  }
  if (map.scale.defined()) weight_ = weight_ * map.scale;
  return *this;
}

Dense& Dense::gives(const Affine& map) {
  if (map.scale.defined()) {
    weight_ = weight_ * as_column(map.scale);
    bias_ = product(bias_, bias_.defined() ? map.scale : torch::Tensor());
  }
  if (map.shift.defined()) bias_ = sum(bias_, map.shift);
  return *this;
}

void Dense::store(Linear& plain) const {
  plain.weight.copy_(weight_);
  if (bias_.defined() && !plain.bias.defined()) {
    throw std::logic_error("a folded matrix has a bias, and the plain one has no place for it");
  }
  if (!plain.bias.defined()) return;
  if (bias_.defined()) {
    plain.bias.copy_(bias_.expand_as(plain.bias));
  } else {
    plain.bias.zero_();
  }
}

bool keeps_norm(const Pointed& module, Point point) {
  const auto norm = module.norm_at(point);
  return norm && !is_fixed(norm->form());
}

Affine map_at(const Pointed& module, Point point) {
  const ActingPoint acting = module.acting_at(point);
  Affine map;
  if (acting.norm && is_fixed(acting.norm->form())) map = fixed(*acting.norm);
  if (acting.factor.defined()) map = map.then(times(wide(acting.factor)));
  if (acting.shift.defined()) map = map.then({{}, wide(acting.shift)});
  return map;
}

void store_norm(const Norm& norm, const Affine& behind, Norm& plain) {
  const bool lacks = (behind.scale.defined() && !norm.gain.defined()) ||
                     (behind.shift.defined() && !norm.bias.defined());
  if (lacks) {
    throw RecipeError(
        "the model cannot be folded: a norm has no gain or bias that could take a number on");
  }
  if (norm.gain.defined()) {
    const double stored_less = norm.form().one_plus_gain ? 1 : 0;
    plain.gain.copy_(product(acting_gain(norm), behind.scale) - stored_less);
  }
  if (norm.bias.defined()) {
    plain.bias.copy_(sum(product(wide(norm.bias), behind.scale), behind.shift));
  }
  if (norm.alpha.defined()) plain.alpha.copy_(norm.alpha);
  if (norm.shift.defined()) plain.shift.copy_(norm.shift);
}

Affine folded_point(const Pointed& module, const Pointed& plain, Point point,
                    const Affine& behind) {
  Affine map = map_at(module, point);
  if (const torch::Tensor own = plain.acting_at(point).factor; own.defined()) {
    // That of queries before they are compared, which is no part of the scheme.
    const std::string name = fmt::format("{}_factor", enum_name(point));
    plain.named_parameters(false)[name].copy_(module.named_parameters(false)[name]);
    map = {};
  }
  map = map.then(behind);
  if (!keeps_norm(module, point)) return map;
  store_norm(*module.norm_at(point), map, *plain.norm_at(point));
  return {};
}

}  // namespace ballast
