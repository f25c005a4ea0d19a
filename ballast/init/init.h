#pragma once

#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <variant>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/parameter.h"

namespace ballast {

/// What values are drawn from; `constant` is no draw at all.
enum class Distribution { normal, uniform, truncated_normal, orthogonal, constant };

/// How to fill a tensor. `std` is that of the values drawn, whatever the distribution: a truncated
/// normal is widened so that it keeps the std asked for, and an orthogonal matrix has no mean.
struct Draw {
  Distribution distribution = Distribution::constant;
  double std = 0;
  double mean = 0;
  int64_t stacked = 1;              ///< orthogonal: matrices below each other, each drawn by itself
  std::vector<double> values = {};  ///< constant: the elements one by one, in place of `mean`
};

/// A float64 tensor of the shape on the CPU, with values that depend on (key, shape, draw) alone:
/// not on the number of threads, nor on what was drawn before.
///
/// A truncated normal is cut at two standard deviations of the normal it comes from. An orthogonal
/// matrix has entries of the std asked for: rows or columns, whichever are fewer, are orthogonal,
/// of each of the stacked matrices: Q of a Gaussian matrix, with the signs of R's diagonal
/// (Mezzadri 2007, arXiv:math-ph/0609050). c10::Error for an orthogonal draw that is not [rows,
/// columns].
torch::Tensor drawn(const Draw& draw, at::IntArrayRef shape, uint64_t key);

/// Which of three variances a rule of the variance-scaling family gives, see `family_variance`.
enum class Family { lecun, glorot, he };

/// 1/fan_in (LeCun et al. 1998), 2/(fan_in + fan_out) (Glorot & Bengio 2010), 2/fan_in (He et al.
/// 2015). Fans count features of one matrix, also where several are stacked.
double family_variance(Family family, int64_t fan_in, int64_t fan_out);

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

/// What rows do with tables: embeddings and an untied output are N(0, 1/d) (times sqrt(d) on the
/// way in that is a second moment of 1), unless the row says otherwise.
struct TablesByWidth {
  Draw table(const ParameterFacts& facts) const {
    return {Distribution::normal, 1 / std::sqrt(static_cast<double>(facts.fan_in))};
  }
  bool operator==(const TablesByWidth&) const = default;
};

// A row answers for every role: `table` for embeddings and an untied output, `matrix` for all other
// matrices. Vectors start where their modules say.

/// One row of the variance-scaling family: std = gain sqrt(variance). LeCun keeps the second moment
/// of what a linear layer reads, He that of what a ReLU reads, Glorot stands between both passes.
template <Family family, Distribution distribution>
struct VarianceScaling : TablesByWidth {
  static constexpr KindInfo info = family_info(family, distribution);
  double gain = 1;  ///< factor on the std

  Draw matrix(const ParameterFacts& facts) const {
    return {distribution, gain * std::sqrt(family_variance(family, facts.fan_in, facts.fan_out))};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("gain", &VarianceScaling::gain, "factor on the standard deviation", at_least_zero));
  }
  bool operator==(const VarianceScaling&) const = default;
};

/// Haar-random orthogonal matrices (Saxe et al. 2013, arXiv:1312.6120), entry variance
/// gain^2 / max(rows, columns).
struct Orthogonal : TablesByWidth {
  static constexpr KindInfo info{"orthogonal", "orthogonal rows or columns, times gain",
                                 "Saxe et al. 2013, arXiv:1312.6120"};
  double gain = 1;

  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(field("gain", &Orthogonal::gain, "every singular value", at_least_zero));
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

/// fairseq's and the Admin paper's: Glorot uniform, query, key and value as one stacked 3d x d
/// matrix, that is with a gain of 1/sqrt(2). The default: choose it to reproduce their results.
struct Fairseq : TablesByWidth {
  static constexpr KindInfo info{"fairseq", "Glorot uniform, q k v with gain 1/sqrt(2)",
                                 "fairseq 0.9, Transformer-Clinic"};

  Draw matrix(const ParameterFacts& facts) const;
  bool operator==(const Fairseq&) const = default;
};

/// Every initialisation a recipe can name.
using InitChoice = std::variant<Fairseq, VarianceScaling<Family::lecun, Distribution::normal>,
                                VarianceScaling<Family::lecun, Distribution::uniform>,
                                VarianceScaling<Family::lecun, Distribution::truncated_normal>,
                                VarianceScaling<Family::glorot, Distribution::normal>,
                                VarianceScaling<Family::glorot, Distribution::uniform>,
                                VarianceScaling<Family::glorot, Distribution::truncated_normal>,
                                VarianceScaling<Family::he, Distribution::normal>,
                                VarianceScaling<Family::he, Distribution::uniform>,
                                VarianceScaling<Family::he, Distribution::truncated_normal>,
                                Orthogonal, ConstantInit>;

/// How a rule fills one matrix or table, by its role and fans.
Draw draw_of(const InitChoice& choice, const ParameterFacts& facts);

}  // namespace ballast
