#pragma once

#include <torch/types.h>

#include <cstdint>
#include <tuple>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"

namespace ballast {

/// What a weight matrix is divided by: nothing; row by row its length or its standard deviation;
/// or its largest singular value.
enum class WeightDivisor { none, row_length, row_deviation, spectral };

/// How many numbers multiply the result: none, one, one a row.
enum class WeightGain { none, one, rows };

/// The matrix that acts for one that is stored, W [R, C]:
///
///     W' = gain * V / divisor(V),    V = (W - mean of each row) diag(scale)
///
/// A kind of weight is a function to this and nothing else.
struct WeightForm {
  bool center = false;         ///< whether the mean of each row is taken away
  bool scales_inputs = false;  ///< whether there is a trained scale [C], from 1
  WeightDivisor divisor = WeightDivisor::none;
  double eps = 0;  ///< added to the square of a row's length or deviation
  WeightGain gain = WeightGain::none;
  bool gain_undoes_divisor = false;  ///< the gain starts at the divisor, so that W' = V; else at 1

  bool is_plain() const { return *this == WeightForm{}; }
  bool operator==(const WeightForm&) const = default;
};

/// What a form reads.
struct WeightTensors {
  torch::Tensor weight;                 ///< [R, C]
  torch::Tensor scale = {};             ///< [C] or undefined
  torch::Tensor gain = {};              ///< [], [R] or undefined
  torch::Tensor left = {}, right = {};  ///< [R], [C]: singular vectors as far as they are known
};

/// V, see `WeightForm`.
torch::Tensor undivided(const WeightForm& form, const WeightTensors& tensors);

/// What V is divided by, [R, 1] or []. That of `spectral` is left^T V right, whose gradient passes
/// through V alone (Miyato et al. 2018, arXiv:1802.05957).
torch::Tensor divisor_of(const WeightForm& form, const WeightTensors& tensors,
                         const torch::Tensor& undivided);

/// W' [R, C], differentiable by the weight, the scale and the gain.
torch::Tensor acting(const WeightForm& form, const WeightTensors& tensors);

/// One step of the power iteration for the largest singular value, in place: left = V right, then
/// right = V^T left, each brought to length 1. No gradient.
void iterate(const WeightForm& form, const WeightTensors& tensors);

/// The gain before training, of weights that are drawn: 1 or the divisor. Brings the singular
/// vectors near their weight first, with which one iteration a step keeps up.
torch::Tensor start_of_gain(const WeightForm& form, const WeightTensors& tensors);

/// What is stored acts. The default.
struct PlainWeight {
  static constexpr KindInfo info{"plain", "W", ""};
  WeightForm form() const { return {}; }
  bool operator==(const PlainWeight&) const = default;
};

/// Length and direction of each row are trained apart. It acts as W at the start.
struct WeightNorm {
  static constexpr KindInfo info{"weight_norm", "g W / |W| row by row, g from |W|",
                                 "Salimans and Kingma 2016, arXiv:1602.07868"};
  WeightForm form() const {
    return {.divisor = WeightDivisor::row_length,
            .gain = WeightGain::rows,
            .gain_undoes_divisor = true};
  }
  bool operator==(const WeightNorm&) const = default;
};

/// Rows with mean 0 and deviation 1: a norm of weights where one of activations is not wanted.
struct WeightStandardization {
  static constexpr KindInfo info{"standardized", "(W - mean) / sd row by row",
                                 "Qiao et al. 2019, arXiv:1903.10520"};
  double eps = 1e-5;
  bool gain = true;

  WeightForm form() const {
    return {.center = true,
            .divisor = WeightDivisor::row_deviation,
            .eps = eps,
            .gain = gain ? WeightGain::rows : WeightGain::none,
            .gain_undoes_divisor = gain};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &WeightStandardization::eps, "added to the variance of a row", positive),
        field("gain", &WeightStandardization::gain,
              "a trained gain a row, from the row's own deviation (NF-ResNets); without one a norm "
              "has to follow"));
  }
  bool operator==(const WeightStandardization&) const = default;
};

/// StyleGAN2's: a trained scale of the inputs that cannot change the size of what comes out, as
/// rows are brought to length 1 after it. The initial deviation of W does not matter.
struct WeightDemodulation {
  static constexpr KindInfo info{"demodulated", "W diag(s) with rows of length 1, s from 1",
                                 "Karras et al. 2019, arXiv:1912.04958"};
  double eps = 1e-8;

  WeightForm form() const {
    return {.scales_inputs = true, .divisor = WeightDivisor::row_length, .eps = eps};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &WeightDemodulation::eps, "added to the square of a row's length", positive));
  }
  bool operator==(const WeightDemodulation&) const = default;
};

/// sigma-Reparam: bounds how much a matrix can stretch, which keeps the entropy of attention from
/// collapsing. sigma_max is followed by one power iteration a step of training.
struct SpectralWeight {
  static constexpr KindInfo info{"spectral", "g W / sigma_max(W), one g, from 1",
                                 "Zhai et al. 2023, arXiv:2303.06296"};
  WeightForm form() const { return {.divisor = WeightDivisor::spectral, .gain = WeightGain::one}; }
  bool operator==(const SpectralWeight&) const = default;
};

/// Every form of the matrices of a branch that a recipe can name.
using WeightChoice = std::variant<PlainWeight, WeightNorm, WeightStandardization,
                                  WeightDemodulation, SpectralWeight>;

inline WeightForm form_of(const WeightChoice& choice) {
  return std::visit([](const auto& kind) { return kind.form(); }, choice);
}

}  // namespace ballast
