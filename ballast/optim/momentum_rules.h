#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/optim/rule.h"

namespace ballast {

// Rules with one mean, of the gradient.

/// Where weight decay acts.
enum class WeightDecay {
  coupled,    ///< g += weight_decay w, so it passes through the momentum (L2)
  decoupled,  ///< w -= lr weight_decay w, beside the update
};

template <>
struct EnumNames<WeightDecay> {
  static constexpr std::array<std::pair<std::string_view, WeightDecay>, 2> value{
      {{"coupled", WeightDecay::coupled}, {"decoupled", WeightDecay::decoupled}}};
};

/// Stochastic gradient descent. With `nesterov` the weights move by g + momentum v, as in PyTorch.
/// To compare with: Transformers train poorly with it, for their gradients differ in size by part.
struct Sgd {
  static constexpr KindInfo info{"sgd", "v = momentum v + g; w -= lr v",
                                 "Robbins and Monro 1951; Sutskever et al. 2013"};
  static constexpr auto fields() {
    return std::tuple{
        field("lr", &Sgd::lr, "peak learning rate, per step", positive),
        field("momentum", &Sgd::momentum, "share of v that is kept, per step", probability),
        field("nesterov", &Sgd::nesterov, "move by g + momentum v instead of v"),
        field("weight_decay", &Sgd::weight_decay, "share of a weight taken away per unit of lr",
              at_least_zero),
        field("decay", &Sgd::decay, "added to the gradient, or beside the update")};
  }
  bool operator==(const Sgd&) const = default;

  UpdateSize update_size() const { return UpdateSize::gradient; }
  std::vector<StateTensor> state(const ParameterFacts&) const {
    if (momentum == 0) return {};
    return {{"momentum"}};
  }
  void update(std::span<const ParameterStep> all, int64_t t) const;
  std::vector<RuleProblem> problems() const {
    if (!nesterov || momentum > 0) return {};
    return {{"nesterov",
             "nesterov looks ahead along the momentum, but momentum is 0; set a "
             "momentum or nesterov = false"}};
  }

  double lr = 0.1, momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0;
  WeightDecay decay = WeightDecay::coupled;
};

/// Every element moves by the learning rate, whatever its gradient: needs one 3 to 10 times smaller
/// than AdamW's, and a weight decay as much larger. One mean a weight in memory.
struct Lion {
  static constexpr KindInfo info{
      "lion",
      "w -= lr (weight_decay w + sign(beta1 m + (1 - beta1) g)); m = beta2 m + (1 - beta2) g",
      "Chen et al. 2023, arXiv:2302.06675"};
  static constexpr auto fields() {
    return std::tuple{
        field("lr", &Lion::lr, "peak learning rate, per step", positive),
        field("beta1", &Lion::beta1, "weight of the mean in the update's sign", probability),
        field("beta2", &Lion::beta2, "decay of the mean of the gradient, per step", probability),
        field("weight_decay", &Lion::weight_decay, "share of a weight taken away per unit of lr",
              at_least_zero)};
  }
  bool operator==(const Lion&) const = default;

  UpdateSize update_size() const { return UpdateSize::adaptive; }
  std::vector<StateTensor> state(const ParameterFacts&) const { return {{"momentum"}}; }
  void update(std::span<const ParameterStep> all, int64_t t) const;

  double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
};

}  // namespace ballast
