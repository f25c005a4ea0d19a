#include "ballast/optim/optimizer.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "ballast/base/error.h"

namespace ballast {
namespace {

std::string describe(const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " " << tensor.sizes();
  return text.str();
}

void check(const OptimizedParameter& parameter) {
  if (!parameter.value.defined() || !parameter.value.is_floating_point()) {
    throw RecipeError(
        fmt::format("parameter \"{}\" is no tensor of a floating-point type; leave "
                    "it out of the optimizer",
                    parameter.name));
  }
  const int64_t stacked = parameter.facts.stacked;
  if (stacked > 1 && (parameter.value.dim() == 0 || parameter.value.size(0) % stacked != 0)) {
    throw RecipeError(fmt::format(
        "parameter \"{}\" is {} and said to hold {} matrices below each other; its first dimension "
        "has to be a multiple of that",
        parameter.name, describe(parameter.value), stacked));
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
    : rules_(rules_of(choice)), parameters_(std::move(parameters)) {
  check_names(parameters_);
  for (const OptimizedParameter& parameter : parameters_) {
    check(parameter);
    shares_.push_back(share_of(parameter));
  }
}

Optimizer::Share Optimizer::share_of(const OptimizedParameter& parameter) const {
  Share share{.rule = rule_for(rules_, parameter.facts)};
  share.names = state_of(rules_[share.rule].rule, parameter.facts);
  const auto options =
      parameter.value.options().dtype(state_type(parameter.value)).requires_grad(false);
  for (const StateTensor& each : share.names) {
    const auto shape = state_shape(each, parameter.value, parameter.facts.stacked);
    share.state.push_back({torch::zeros(shape, options), each.per});
  }
  return share;
}

ParameterStep Optimizer::step_of(size_t parameter, double lr, double gradient_scale) const {
  const OptimizedParameter& each = parameters_[parameter];
  const Share& share = shares_[parameter];
  return {.value = each.value,
          .gradient = each.value.grad(),
          .state = share.state,
          .gradient_scale = gradient_scale,
          .lr = lr * rules_[share.rule].lr_ratio,
          .lr_scale = each.lr_scale,
          .decays = each.facts.decays(),
          .decay_scale = each.decay_scale,
          .epsilon_scale = each.epsilon_scale,
          .stacked = each.facts.stacked};
}

void Optimizer::step(double lr, double gradient_scale) {
  if (!std::isfinite(lr) || !std::isfinite(gradient_scale)) {
    throw RecipeError(
        fmt::format("optimizer step with learning rate {} and gradient scale {}; "
                    "both must be finite, so skip this step",
                    lr, gradient_scale));
  }
  ++steps_;
  std::vector<std::vector<ParameterStep>> steps(rules_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    steps[shares_[i].rule].push_back(step_of(i, lr, gradient_scale));
  }
  for (size_t i = 0; i < rules_.size(); ++i) {
    std::visit([&](const auto& rule) { rule.update(steps[i], steps_); }, rules_[i].rule);
  }
}

void Optimizer::clear_gradients() {
  for (OptimizedParameter& parameter : parameters_) parameter.value.mutable_grad().reset();
}

NamedTensors Optimizer::state() const {
  NamedTensors state{{"steps", torch::tensor(steps_, torch::kLong)}};
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Share& share = shares_[i];
    for (size_t k = 0; k < share.names.size(); ++k) {
      state.push_back(
          {fmt::format("{}.{}", parameters_[i].name, share.names[k].name), share.state[k].tensor});
    }
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
