#include "ballast/residual/residual.h"

#include <algorithm>

namespace ballast {
namespace {

std::optional<NormParameters> parameters_of(const std::shared_ptr<Norm>& norm) {
  if (!norm) return std::nullopt;
  return norm->parameters_and_spec();
}

torch::Tensor scaled(const torch::Tensor& x, const Factor& factor) {
  if (factor.trained.defined()) return x * factor.trained;
  return factor.constant == 1 ? x : x * factor.constant;
}

}  // namespace

Residual::Residual(const ResidualOptions& options) : options_(options) {
  const ResidualForm& form = options.form;
  norm_in = make_norm("norm_in", form.norm_in);
  norm_mid = make_norm("norm_mid", form.norm_mid);
  norm_out = make_norm("norm_out", form.norm_out);
  shortcut = store("shortcut", form.shortcut);
  branch = store("branch", form.branch);
  input = store("input", form.input);
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
}

torch::Tensor Residual::forward(const torch::Tensor& x, const Branch& function) const {
  const ResidualForm& form = options_.form;
  const torch::Tensor seen = probe("shortcut", x);
  const torch::Tensor normed = norm_in ? norm_in->forward(seen) : seen;
  torch::Tensor f = function(scaled(normed, factor(form.input, input)));
  DropMask mask = dropout_->mask();
  if (context().observer) {
    f = probe("branch", dropout(f, mask));
    mask = {};
  }
  return probe("output", residual_norm({.shortcut = seen,
                                        .branch = f,
                                        .shortcut_factor = factor(form.shortcut, shortcut),
                                        .branch_factor = factor(form.branch, branch),
                                        .dropout = mask,
                                        .norm_mid = parameters_of(norm_mid),
                                        .norm_out = parameters_of(norm_out)}));
}

void Residual::set_profiled_shortcut(double omega) {
  const torch::NoGradGuard no_grad;
  shortcut.fill_(omega);
}

void Residual::share_branch_coefficient(Residual& owner) {
  branch = parameters_["branch"] = owner.branch;
}

std::vector<ParameterSlot> Residual::describe() {
  std::vector<ParameterSlot> slots;
  const auto add = [&](std::string_view name, const torch::Tensor& tensor, Role role,
                       const Coefficient& coefficient) {
    if (!coefficient.trained) return;
    slots.push_back({.name = name,
                     .tensor = tensor,
                     .facts = {role, options_.site.d_model, 1, options_.site},
                     .start = coefficient.value});
  };
  add("shortcut", shortcut, Role::shortcut_coefficient, options_.form.shortcut);
  add("branch", branch, Role::branch_coefficient, options_.form.branch);
  add("input", input, Role::branch_coefficient, options_.form.input);
  return slots;
}

Factor Residual::factor(const Coefficient& coefficient, const torch::Tensor& stored) const {
  if (stored.defined()) return {.trained = stored};
  switch (coefficient.source) {
    case Coefficient::Source::constant:
    case Coefficient::Source::profiled:
      return {.constant = coefficient.value};
    case Coefficient::Source::ramp:
      return {.constant = std::min(1.0, static_cast<double>(context().step) / coefficient.value)};
    case Coefficient::Source::one:
      break;
  }
  return {};
}

torch::Tensor Residual::store(const std::string& name, const Coefficient& coefficient) {
  const bool profiled = coefficient.source == Coefficient::Source::profiled;
  if (!coefficient.trained && !profiled) return {};
  const std::vector<int64_t> shape = coefficient.per_feature
                                         ? std::vector<int64_t>{options_.site.d_model}
                                         : std::vector<int64_t>{};
  const torch::Tensor start = torch::full(shape, coefficient.value, torch::kFloat32);
  return coefficient.trained ? register_parameter(name, start) : register_buffer(name, start);
}

std::shared_ptr<Norm> Residual::make_norm(const std::string& name, bool present) {
  if (!present) return nullptr;
  return register_module(name, std::make_shared<Norm>(options_.norm, options_.site.d_model));
}

}  // namespace ballast
