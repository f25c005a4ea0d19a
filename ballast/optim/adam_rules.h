#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/kernels/adam.h"
#include "ballast/optim/rule.h"

namespace ballast {

/// Where epsilon is added to the root of the second moment v.
enum class EpsilonPlacement {
  after_correction,   ///< sqrt(v / (1 - beta2^t)) + eps, as PyTorch
  inside_correction,  ///< sqrt(v) + eps, the sum is corrected, as fairseq
};

/// What RAdam does in the first steps, while the variance of 1/sqrt(v) cannot be rectified.
enum class Rectification {
  authors,  ///< from rho >= 5; no update and no weight decay before (the authors' code)
  paper,    ///< from rho > 4; a bias-corrected momentum step before (the paper, Algorithm 2)
};

template <>
struct EnumNames<EpsilonPlacement> {
  static constexpr std::array<std::pair<std::string_view, EpsilonPlacement>, 2> value{
      {{"after_correction", EpsilonPlacement::after_correction},
       {"inside_correction", EpsilonPlacement::inside_correction}}};
};

template <>
struct EnumNames<Rectification> {
  static constexpr std::array<std::pair<std::string_view, Rectification>, 2> value{
      {{"authors", Rectification::authors}, {"paper", Rectification::paper}}};
};

/// What Adam's rules have in common: they keep the means of the gradient and of its square, for
/// every element.
struct AdamState {
  UpdateSize update_size() const { return UpdateSize::adaptive; }
  std::vector<StateTensor> state(const ParameterFacts&) const {
    return {{"first_moment"}, {"second_moment"}};
  }
  bool operator==(const AdamState&) const = default;
};

/// The options that they share, described once.
template <class Options>
constexpr auto adam_fields() {
  return std::tuple{
      field("lr", &Options::lr, "peak learning rate, per step", positive),
      field("beta1", &Options::beta1, "decay of the mean of the gradient, per step", probability),
      field("beta2", &Options::beta2, "decay of the mean of its square, per step", probability),
      field("eps", &Options::eps, "added to the root of the mean square, in gradient units",
            positive),
      field("weight_decay", &Options::weight_decay, "share of a weight taken away per unit of lr",
            at_least_zero)};
}

/// Adam whose first steps are held back while v rests on too few gradients, in place of a warmup.
/// The rule of the Admin paper's runs. eps is added to the root before the correction, as in the
/// authors' code. Weight decay is decoupled.
struct RAdam : AdamState {
  static constexpr KindInfo info{
      "radam", "w -= lr (weight_decay w + r_t m_hat / sqrt(v_hat)), r_t rectifies the variance",
      "Liu et al. 2019, arXiv:1908.03265"};
  static constexpr auto fields() {
    return std::tuple_cat(adam_fields<RAdam>(),
                          std::tuple{field("rectification", &RAdam::rectification,
                                           "first rectified step and what happens before it")});
  }
  void update(std::span<const ParameterStep> all, int64_t t) const;
  bool operator==(const RAdam&) const = default;

  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  Rectification rectification = Rectification::authors;
};

/// Weight decay is added to the gradient (L2), so large gradients weaken it. The default learning
/// rate is PyTorch's; with weight_decay = 0 it is AdamW without decay.
struct Adam : AdamState {
  static constexpr KindInfo info{"adam", "g += weight_decay w; w -= lr m_hat / (sqrt(v_hat) + eps)",
                                 "Kingma and Ba 2014, arXiv:1412.6980"};
  static constexpr auto fields() {
    return std::tuple_cat(adam_fields<Adam>(),
                          std::tuple{field("eps_placement", &Adam::eps_placement,
                                           "before or after bias correction")});
  }
  void update(std::span<const ParameterStep> all, int64_t t) const;
  bool operator==(const Adam&) const = default;

  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  EpsilonPlacement eps_placement = EpsilonPlacement::after_correction;
};

/// Weight decay shrinks the weight itself, by lr * weight_decay a step. With `inside_correction`
/// this is fairseq's Adam.
struct AdamW : AdamState {
  static constexpr KindInfo info{"adamw", "w -= lr (weight_decay w + m_hat / (sqrt(v_hat) + eps))",
                                 "Loshchilov and Hutter 2017, arXiv:1711.05101"};
  static constexpr auto fields() {
    return std::tuple_cat(adam_fields<AdamW>(),
                          std::tuple{field("eps_placement", &AdamW::eps_placement,
                                           "before or after bias correction")});
  }
  void update(std::span<const ParameterStep> all, int64_t t) const;
  bool operator==(const AdamW&) const = default;

  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
  EpsilonPlacement eps_placement = EpsilonPlacement::after_correction;
};

/// The numbers of step t >= 1 per unit of learning rate: multiply `step` and `decay` by it. These
/// rules differ in nothing else; where epsilon is placed is only its value at t.
AdamUpdate update_at(const RAdam& rule, int64_t t);
AdamUpdate update_at(const Adam& rule, int64_t t);
AdamUpdate update_at(const AdamW& rule, int64_t t);

/// Length of the simple average that the average of v at step t amounts to (paper, equation 5);
/// it tends to 2 / (1 - beta2) - 1.
double averaged_length(double beta2, int64_t t);

/// RAdam's factor r_t in (0, 1); needs averaged_length(beta2, t) > 4.
double rectifier(double beta2, int64_t t);

}  // namespace ballast
