#include "ballast/optim/optimizer.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "ballast/base/error.h"
#include "ballast/kernels/adam.h"

namespace ballast {
namespace {

void check(const OptimizedParameter& parameter) {
  if (!parameter.value.defined() || !parameter.value.is_floating_point()) {
    throw RecipeError(
        fmt::format("parameter \"{}\" is no tensor of a floating-point type; leave "
                    "it out of the optimizer",
                    parameter.name));
  }
}

void check_names(const std::vector<OptimizedParameter>& parameters) {
  std::set<std::string_view> seen;
  for (const OptimizedParameter& parameter : parameters) {
    if (!seen.insert(parameter.name).second) {
      throw RecipeError(
          fmt::format("parameter \"{}\" was given twice to the optimizer; a shared "
                      "tensor is listed once",
                      parameter.name));
    }
  }
}

torch::Tensor zero_moment(const torch::Tensor& value) {
  const auto type = value.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  return torch::zeros(value.sizes(), value.options().dtype(type).requires_grad(false));
}

AdamUpdate update_for(const OptimizedParameter& parameter, AdamUpdate update, double lr) {
  update.step *= lr * parameter.lr_scale;
  update.decay *= parameter.decays ? lr * parameter.lr_scale : 0;
  update.l2 *= parameter.decays ? 1 : 0;
  return update;
}

std::string describe(const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " " << tensor.sizes();
  return text.str();
}

/// The tensors of `found`, in the order of `wanted`.
std::vector<torch::Tensor> matched(const NamedTensors& wanted, const NamedTensors& found) {
  std::map<std::string_view, torch::Tensor> by_name;
  for (const NamedTensor& each : found) by_name[each.name] = each.value;
  std::vector<torch::Tensor> matched;
  for (const auto& [name, tensor] : wanted) {
    const auto place = by_name.find(name);
    if (place == by_name.end()) {
      throw StoreError(
          fmt::format("optimizer state lacks \"{}\"; it was saved by another "
                      "optimizer or model, so training cannot go on from it",
                      name));
    }
    if (describe(place->second) != describe(tensor)) {
      throw StoreError(
          fmt::format("optimizer state \"{}\" is {}, expected {}; it was saved by "
                      "another model",
                      name, describe(place->second), describe(tensor)));
    }
    matched.push_back(place->second);
    by_name.erase(place);
  }
  if (!by_name.empty()) {
    throw StoreError(
        fmt::format("optimizer state holds \"{}\", which belongs to no parameter; it "
                    "was saved by another optimizer or model",
                    by_name.begin()->first));
  }
  return matched;
}

}  // namespace

Optimizer::Optimizer(const OptimizerChoice& choice, std::vector<OptimizedParameter> parameters)
    : choice_(choice), parameters_(std::move(parameters)) {
  check_names(parameters_);
  for (const OptimizedParameter& parameter : parameters_) {
    check(parameter);
    moments_.push_back({zero_moment(parameter.value), zero_moment(parameter.value)});
  }
}

void Optimizer::step(double lr, double gradient_scale) {
  if (!std::isfinite(lr) || !std::isfinite(gradient_scale)) {
    throw RecipeError(
        fmt::format("optimizer step with learning rate {} and gradient scale {}; "
                    "both must be finite, so skip this step",
                    lr, gradient_scale));
  }
  AdamUpdate update = update_at(choice_, ++steps_);
  update.gradient_scale = gradient_scale;
  std::vector<AdamTensors> all;
  all.reserve(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const torch::Tensor& value = parameters_[i].value;
    all.push_back({value, value.grad(), moments_[i].first, moments_[i].second,
                   update_for(parameters_[i], update, lr)});
  }
  adam(all);
}

void Optimizer::clear_gradients() {
  for (OptimizedParameter& parameter : parameters_) parameter.value.mutable_grad().reset();
}

NamedTensors Optimizer::state() const {
  NamedTensors state{{"steps", torch::tensor(steps_, torch::kLong)}};
  for (size_t i = 0; i < parameters_.size(); ++i) {
    state.push_back({parameters_[i].name + ".first_moment", moments_[i].first});
    state.push_back({parameters_[i].name + ".second_moment", moments_[i].second});
  }
  return state;
}

void Optimizer::load_state(const NamedTensors& state) {
  const NamedTensors own = this->state();
  const std::vector<torch::Tensor> loaded = matched(own, state);
  if (loaded.front().item<int64_t>() < 0) {
    throw StoreError(
        "optimizer state says that a negative number of steps was made; it is damaged");
  }
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < own.size(); ++i) own[i].value.copy_(loaded[i]);
  steps_ = own.front().value.item<int64_t>();
}

}  // namespace ballast
