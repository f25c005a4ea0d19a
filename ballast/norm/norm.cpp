#include "ballast/norm/norm.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "ballast/base/error.h"

namespace ballast {
namespace {

/// Which sequence each row belongs to, int64 [N].
torch::Tensor sequence_of_rows(const Segments& sequences) {
  const std::span<const int64_t> lengths = sequences.lengths();
  const torch::Tensor counts = torch::tensor(at::ArrayRef(lengths.data(), lengths.size()));
  return torch::arange(sequences.count()).repeat_interleave(counts);
}

/// Means over all rows that share statistics, as one row for each row of [N, G], or one for all.
class Pool {
 public:
  Pool(Over over, const torch::Tensor& x, const Segments* sequences) : over_(over) {
    if (over != Over::sequence) return;
    if (sequences == nullptr || sequences->tokens() != x.size(0) || !sequences->is_packed()) {
      throw std::logic_error("a norm over sequences needs rows that are sequences end to end");
    }
    count_ = sequences->count();
    row_ = sequence_of_rows(*sequences).to(x.device());
    const torch::Tensor rows = torch::ones({x.size(0)}, x.options());
    lengths_ = torch::zeros({count_}, x.options()).index_add(0, row_, rows).unsqueeze(1);
  }

  torch::Tensor mean(const torch::Tensor& values) const {
    switch (over_) {
      case Over::row:
        break;
      case Over::batch:
        return values.mean(0, true);
      case Over::sequence: {
        const torch::Tensor sums =
            torch::zeros({count_, values.size(1)}, values.options()).index_add(0, row_, values);
        return (sums / lengths_).index_select(0, row_);
      }
    }
    return values;
  }

 private:
  Over over_;
  int64_t count_ = 0;
  torch::Tensor row_, lengths_;
};

torch::Tensor applied(Pointwise function, const torch::Tensor& x) {
  return function == Pointwise::tanh ? x.tanh() : x.erf();
}

}  // namespace

Norm::Norm(const NormForm& form, const RowShape& shape)
    : form_(form), width_(shape.width), groups_(form.groups_of(shape)) {
  if (width_ % groups_ != 0) {
    throw RecipeError(
        fmt::format("a norm in {} groups of features, of which there are {}; the "
                    "groups have to divide them",
                    groups_, width_));
  }
  const int64_t part = width_ / groups_;
  const double length = std::sqrt(static_cast<double>(part));
  if (form.to_length) {
    scale_ = 1 / length;
    form_.eps = form.placement == EpsPlacement::inside_root ? form.eps / static_cast<double>(part)
                                                            : form.eps / length;
  }
  const double start = form.one_plus_gain ? 0 : 1 / scale_;
  if (form.gain == GainExtent::one) {
    gain = register_parameter("gain", torch::full({}, start));
  } else if (form.gain != GainExtent::none) {
    gain = register_parameter("gain",
                              torch::full({form.gain == GainExtent::group ? part : width_}, start));
  }
  if (form.bias) bias = register_parameter("bias", torch::zeros({width_}));
  if (form.function != Pointwise::none) {
    alpha = register_parameter("alpha", torch::full({}, form.alpha));
    if (form.shifted) shift = register_parameter("shift", torch::zeros({}));
  }
  if (form.running_share > 0) {
    running_mean = register_buffer("running_mean", torch::zeros({groups_}));
    running_second = register_buffer("running_second", torch::ones({groups_}));
  }
}

torch::Tensor Norm::acting_gain() const {
  if (!gain.defined()) {
    return scale_ == 1 ? gain : torch::full({width_}, scale_, torch::kFloat32);
  }
  torch::Tensor acting = form_.one_plus_gain ? gain + 1 : gain;
  if (scale_ != 1) acting = acting * scale_;
  if (form_.gain == GainExtent::one) return acting.expand({width_});
  return form_.gain == GainExtent::group && groups_ > 1 ? acting.repeat({groups_}) : acting;
}

NormSpec Norm::spec() const {
  return {form_.center ? Statistic::layer : Statistic::rms, form_.eps, form_.placement};
}

NormParameters Norm::kernel_parameters() const { return {acting_gain(), bias, spec()}; }

torch::Tensor Norm::forward(const torch::Tensor& x, const Segments* sequences) const {
  if (is_one_division()) return norm(x, acting_gain(), bias, spec());
  torch::Tensor y;
  if (form_.function == Pointwise::none) {
    y = divided(x, sequences);
  } else {
    const torch::Tensor scaled = x * alpha;
    y = applied(form_.function, shift.defined() ? scaled + shift : scaled);
  }
  if (const torch::Tensor acting = acting_gain(); acting.defined()) y = y * acting.to(y.dtype());
  return bias.defined() ? y + bias : y;
}

torch::Tensor Norm::divided(const torch::Tensor& x, const Segments* sequences) const {
  const int64_t rows = x.size(0), part = width_ / groups_;
  if (rows == 0) return x;
  const torch::Tensor parts = x.reshape({rows, groups_, part});
  if (form_.is_row_wise()) {
    return norm(parts.reshape({rows * groups_, part}), {}, {}, spec()).view({rows, width_});
  }
  const bool keeps = running_mean.defined();
  torch::Tensor mean, second;
  if (keeps && !is_training()) {
    mean = running_mean.unsqueeze(0);
    second = running_second.unsqueeze(0);
  } else {
    const Pool pool(form_.over, x, sequences);
    mean = form_.center ? pool.mean(parts.mean(2)) : torch::zeros({1, groups_}, x.options());
    second = pool.mean((parts - mean.unsqueeze(2)).square().mean(2));
    if (keeps) learn(mean, second, rows * part);
  }
  const torch::Tensor root = norm_divisor(second, spec());
  return ((parts - mean.unsqueeze(2)) / root.unsqueeze(2)).reshape({rows, width_});
}

void Norm::learn(const torch::Tensor& mean, const torch::Tensor& second, int64_t values) const {
  if (values < 2) {
    throw DataError(
        "a norm over the batch has one token to take its statistics from, expected at least two; "
        "raise train.batch_tokens");
  }
  if (!torch::GradMode::is_enabled()) return;
  const torch::NoGradGuard no_grad;
  const double share = form_.running_share;
  const double unbiased =
      form_.center ? static_cast<double>(values) / static_cast<double>(values - 1) : 1;
  running_mean.mul_(1 - share).add_(mean.view({groups_}), share);
  running_second.mul_(1 - share).add_(second.view({groups_}), share * unbiased);
}

std::vector<ParameterSlot> Norm::describe() {
  std::vector<ParameterSlot> slots;
  const auto add = [&](std::string_view name, const torch::Tensor& tensor, Role role,
                       double start) {
    if (!tensor.defined()) return;
    slots.push_back({.name = name,
                     .tensor = tensor,
                     .facts = {.role = role, .fan_in = width_},
                     .start = start});
  };
  add("gain", gain, Role::norm_gain, form_.one_plus_gain ? 0 : 1 / scale_);
  add("bias", bias, Role::norm_bias, 0);
  add("alpha", alpha, Role::norm_gain, form_.alpha);
  add("shift", shift, Role::norm_bias, 0);
  return slots;
}

}  // namespace ballast
