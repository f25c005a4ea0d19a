#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/optim/rule.h"

namespace ballast {

/// Adam with the memory of a row and a column for the second moment of a matrix, and none for the
/// first: v_ij = R_i C_j / mean(R), of the means R over columns and C over rows. Vectors keep v.
///
/// With `relative_step` the rate of step t is min(lr, 1 / sqrt(t)) and the schedule may be no other
/// than a constant, with a warmup; lr = 0.01 is the paper's, and a warmup of 10000 steps is its
/// `warmup_init`, min(1e-6 t, 1 / sqrt(t)). With `scale_parameter` the rate is times
/// max(eps_weight, rms(w)). Weight decay is decoupled, per unit of the whole rate (fairseq). Choose
/// it where Adam's two numbers a weight do not fit into memory. rms is the root of the mean square
/// over one matrix, in float64.
struct Adafactor {
  static constexpr KindInfo info{"adafactor",
                                 "u = g / sqrt(v); w -= rate (weight_decay w + u / max(1, rms(u) / "
                                 "clip_threshold)), v of rows "
                                 "and columns",
                                 "Shazeer and Stern 2018, arXiv:1804.04235; fairseq"};
  static constexpr auto fields() {
    return std::tuple{
        field("lr", &Adafactor::lr, "peak learning rate, per step", positive),
        field("beta1", &Adafactor::beta1, "decay of the mean of updates, per step; 0 keeps none",
              probability),
        field("beta2_power", &Adafactor::beta2_power,
              "decay of the mean square at step t is 1 - 1 / t^beta2_power", positive),
        field("eps", &Adafactor::eps, "added to the squared gradient, in its units", positive),
        field("eps_weight", &Adafactor::eps_weight, "least rms of weights that scales a rate",
              positive),
        field("clip_threshold", &Adafactor::clip_threshold, "most rms of a matrix's update",
              positive),
        field("weight_decay", &Adafactor::weight_decay,
              "share of a weight taken away per unit of the rate", at_least_zero),
        field("scale_parameter", &Adafactor::scale_parameter, "rates in proportion to the weights"),
        field("relative_step", &Adafactor::relative_step,
              "rate min(lr, 1 / sqrt(t)), without a schedule that falls")};
  }
  bool operator==(const Adafactor&) const = default;

  UpdateSize update_size() const {
    return scale_parameter ? UpdateSize::weight : UpdateSize::adaptive;
  }
  std::string_view falls_by() const { return relative_step ? "relative_step" : ""; }
  std::vector<StateTensor> state(const ParameterFacts& facts) const {
    std::vector<StateTensor> kept{{"second_moment"}};
    if (!is_vector(facts.role)) kept = {{"row_mean", Per::row}, {"column_mean", Per::column}};
    if (beta1 > 0) kept.push_back({"first_moment"});
    return kept;
  }
  void update(std::span<const ParameterStep> all, int64_t t) const;

  double lr = 0.01, beta1 = 0, beta2_power = 0.8, eps = 1e-30, eps_weight = 1e-3;
  double clip_threshold = 1, weight_decay = 0;
  bool scale_parameter = true, relative_step = false;
};

}  // namespace ballast
