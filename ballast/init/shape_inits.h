#pragma once

#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/init/rule.h"

namespace ballast {

// Rows that look at the shape of a matrix and at what it reads, and not at its place.

/// fairseq's and the Admin paper's: Glorot uniform, query, key and value as one stacked 3d x d
/// matrix, that is with a gain of 1/sqrt(2). The default: choose it to reproduce their results.
struct Fairseq : TablesByWidth {
  static constexpr KindInfo info{"fairseq", "Glorot uniform, q k v with gain 1/sqrt(2)",
                                 "fairseq 0.9, Transformer-Clinic"};

  Draw matrix(const ParameterFacts& facts) const;
  bool operator==(const Fairseq&) const = default;
};

/// Of the normal, the uniform and the truncated normal distribution only.
constexpr KindInfo family_info(Family family, Distribution distribution) {
  constexpr KindInfo rows[3][3] = {
      {{"lecun_normal", "N(0, 1/fan_in)", "LeCun et al. 1998"},
       {"lecun_uniform", "U(+-sqrt(3/fan_in))", "LeCun et al. 1998"},
       {"lecun_truncated_normal", "N cut at 2 std, variance 1/fan_in", "LeCun et al. 1998"}},
      {{"glorot_normal", "N(0, 2/(fan_in+fan_out))", "Glorot and Bengio 2010"},
       {"glorot_uniform", "U(+-sqrt(6/(fan_in+fan_out)))", "Glorot and Bengio 2010"},
       {"glorot_truncated_normal", "N cut at 2 std, variance 2/(fan_in+fan_out)",
        "Glorot and Bengio 2010"}},
      {{"he_normal", "N(0, 2/fan_in)", "He et al. 2015, arXiv:1502.01852"},
       {"he_uniform", "U(+-sqrt(6/fan_in))", "He et al. 2015, arXiv:1502.01852"},
       {"he_truncated_normal", "N cut at 2 std, variance 2/fan_in",
        "He et al. 2015, arXiv:1502.01852"}}};
  return rows[static_cast<int>(family)][static_cast<int>(distribution)];
}

/// Which number of features a variance goes by: those that are read, so that a second moment stays
/// the same on the way forward, or those that are made, so that a gradient's does on the way back.
enum class Fan { in, out };

template <>
struct EnumNames<Fan> {
  static constexpr std::array<std::pair<std::string_view, Fan>, 2> value{
      {{"in", Fan::in}, {"out", Fan::out}}};
};

/// One row of the variance-scaling family: std = gain sqrt(variance). LeCun keeps the second moment
/// of what a linear layer reads, He that of what a ReLU reads, Glorot stands between both passes.
/// He's variance is 2/((1 + slope^2) fan), with relu's slope of 0 below zero.
template <Family family, Distribution distribution>
struct VarianceScaling : TablesByWidth {
  static constexpr KindInfo info = family_info(family, distribution);
  double gain = 1;        ///< factor on the std
  double slope = 0;       ///< He's
  Fan fan = Fan::in;      ///< He's
  double cut = 2;         ///< of a truncated normal
  bool corrected = true;  ///< of a truncated normal

  Draw matrix(const ParameterFacts& facts) const {
    const int64_t read = fan == Fan::in ? facts.fan_in : facts.fan_out;
    const double variance = family_variance(family, read, facts.fan_out) / (1 + slope * slope);
    const double std = gain * std::sqrt(variance);
    if (distribution != Distribution::truncated_normal) return {distribution, std};
    return gaussian(std, corrected ? Truncation::corrected : Truncation::uncorrected, cut);
  }
  static constexpr auto fields() {
    return std::tuple_cat(std::make_tuple(field("gain", &VarianceScaling::gain,
                                                "factor on the standard deviation", at_least_zero)),
                          fields_of_he(), fields_of_truncation());
  }
  bool operator==(const VarianceScaling&) const = default;

 private:
  static constexpr auto fields_of_he() {
    if constexpr (family == Family::he) {
      return std::make_tuple(
          field("slope", &VarianceScaling::slope, "of a leaky relu below 0", at_least_zero),
          field("fan", &VarianceScaling::fan, "in (keeps values) or out (keeps gradients)"));
    } else {
      return std::tuple{};
    }
  }
  static constexpr auto fields_of_truncation() {
    if constexpr (distribution == Distribution::truncated_normal) {
      return std::make_tuple(
          field("cut", &VarianceScaling::cut, "ends, in standard deviations of the normal",
                positive),
          field("corrected", &VarianceScaling::corrected,
                "whether the values have the standard deviation (Keras, JAX), or the normal before "
                "its cut (TensorFlow)"));
    } else {
      return std::tuple{};
    }
  }
};

/// Haar-random orthogonal matrices (Saxe et al. 2013, arXiv:1312.6120), entry variance
/// gain^2 / max(rows, columns). That keeps |x| where no feature is lost (rows >= columns);
/// `keeps_moment` keeps the second moment of a feature instead, by sqrt(max(1, rows/columns)) more.
struct Orthogonal : TablesByWidth {
  static constexpr KindInfo info{"orthogonal", "orthogonal rows or columns, times gain",
                                 "Saxe et al. 2013, arXiv:1312.6120"};
  double gain = 1;
  bool keeps_moment = false;

  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(
        field("gain", &Orthogonal::gain, "every singular value", at_least_zero),
        field("keeps_moment", &Orthogonal::keeps_moment,
              "times sqrt(max(1, rows/columns)): keeps the second moment of a feature"));
  }
  bool operator==(const Orthogonal&) const = default;
};

/// Every matrix entry the same. For experiments: it breaks no symmetry.
struct ConstantInit : TablesByWidth {
  static constexpr KindInfo info{"constant", "value", "-"};
  double value = 0;

  Draw matrix(const ParameterFacts&) const { return {Distribution::constant, 0, value}; }
  static constexpr auto fields() {
    return std::make_tuple(field("value", &ConstantInit::value, "every entry of every matrix"));
  }
  bool operator==(const ConstantInit&) const = default;
};

/// What torch.nn.Linear starts from, kaiming_uniform(a = sqrt(5)): a variance of 1/(3 fan_in), and
/// the same of biases. So does an untied output; embeddings are N(0, 1/d).
struct TorchDefault {
  static constexpr KindInfo info{"torch_default", "U(+-1/sqrt(fan_in)), biases too",
                                 "torch.nn.Linear"};

  Draw table(const ParameterFacts& facts) const {
    return facts.role == Role::output ? matrix(facts) : TablesByWidth().table(facts);
  }
  Draw matrix(const ParameterFacts& facts) const {
    return {Distribution::uniform, 1 / std::sqrt(3.0 * static_cast<double>(facts.fan_in))};
  }
  std::optional<Draw> vector(const ParameterFacts& facts) const {
    if (facts.role == Role::bias) return matrix(facts);
    return {};
  }
  bool operator==(const TorchDefault&) const = default;
};

/// Which way a second moment is kept.
enum class Direction { forward, backward };

template <>
struct EnumNames<Direction> {
  static constexpr std::array<std::pair<std::string_view, Direction>, 2> value{
      {{"forward", Direction::forward}, {"backward", Direction::backward}}};
};

/// The variance that keeps a second moment of 1 through the function whose result a matrix reads,
/// for arguments of N(0, 1): forward 1/(fan_in E f^2), backward 1/(fan_out E f'^2). Both are those
/// of the model's activation for the second matrix of a feed-forward layer, and 1 elsewhere. Of a
/// gated pair f(g) u, E f'^2 is the sum over both slopes, E f'^2 + E f^2.
struct ActivationMatched : TablesByWidth {
  static constexpr KindInfo info{"activation_matched",
                                 "variance 1/(fan_in E f^2), or backward 1/(fan_out E f'^2)",
                                 "second moments of the activation under N(0, 1)"};
  Direction direction = Direction::forward;
  Distribution distribution = Distribution::normal;

  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(
        field("direction", &ActivationMatched::direction,
              "whose second moment stays: forward of values, backward of gradients"),
        field("distribution", &ActivationMatched::distribution,
              "normal, uniform or truncated_normal"));
  }
  bool operator==(const ActivationMatched&) const = default;
};

using ShapeInits = std::variant<Fairseq, VarianceScaling<Family::lecun, Distribution::normal>,
                                VarianceScaling<Family::lecun, Distribution::uniform>,
                                VarianceScaling<Family::lecun, Distribution::truncated_normal>,
                                VarianceScaling<Family::glorot, Distribution::normal>,
                                VarianceScaling<Family::glorot, Distribution::uniform>,
                                VarianceScaling<Family::glorot, Distribution::truncated_normal>,
                                VarianceScaling<Family::he, Distribution::normal>,
                                VarianceScaling<Family::he, Distribution::uniform>,
                                VarianceScaling<Family::he, Distribution::truncated_normal>,
                                Orthogonal, ConstantInit, TorchDefault, ActivationMatched>;

}  // namespace ballast
