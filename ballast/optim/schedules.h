#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/schedule.h"

namespace ballast {

// Symbols: t step, W warmup, T total steps, lr peak learning rate, x share of the decay that has
// passed, from 0 to 1, each in steps, which are updates counted from 1. Without other mention the
// warmup is lr t / W, and W = 0 is none.

/// The original Transformer's, with a peak that is named and not made from d. It knows no end, so a
/// run may go on.
struct InverseSqrtOptions {
  static constexpr KindInfo info{"inverse_sqrt",
                                 "t < W: initial_lr + t (lr - initial_lr) / W; then lr sqrt(W / t)",
                                 "Vaswani et al. 2017, arXiv:1706.03762; fairseq"};
  static constexpr bool falls = true;
  static constexpr auto fields() {
    return std::tuple{field("warmup", &InverseSqrtOptions::warmup,
                            "W, in steps; 0 is the same as 1", at_least_zero),
                      field("initial_lr", &InverseSqrtOptions::initial_lr,
                            "learning rate before the first step", at_least_zero)};
  }
  bool operator==(const InverseSqrtOptions&) const = default;

  int64_t warmup = 4000;
  double initial_lr = 1e-7;
};

/// Half a cosine from the peak to the end of the run, slow at both ends.
struct CosineOptions {
  static constexpr KindInfo info{
      "cosine",
      "lr (final_ratio + (1 - final_ratio) (1 + cos(pi x)) / 2), x = (t - W) / (T - W); T + 1 for "
      "T where final_ratio = 0",
      "Loshchilov and Hutter 2016, arXiv:1608.03983"};
  static constexpr bool falls = true;
  static constexpr auto fields() {
    return std::tuple{field("warmup", &CosineOptions::warmup, "W, in steps", at_least_zero),
                      field("final_ratio", &CosineOptions::final_ratio,
                            "last over peak learning rate", Bounds{.low = 0, .high = 1})};
  }
  bool operator==(const CosineOptions&) const = default;

  int64_t warmup = 0;
  double final_ratio = 0.1;
};

/// A straight line from the peak to the end of the run.
struct LinearDecayOptions {
  static constexpr KindInfo info{
      "linear",
      "lr (final_ratio + (1 - final_ratio) (1 - x)), x = (t - W) / (T - W); T + 1 for T where "
      "final_ratio = 0",
      "Devlin et al. 2018, arXiv:1810.04805"};
  static constexpr bool falls = true;
  static constexpr auto fields() {
    return std::tuple{field("warmup", &LinearDecayOptions::warmup, "W, in steps", at_least_zero),
                      field("final_ratio", &LinearDecayOptions::final_ratio,
                            "last over peak learning rate", Bounds{.low = 0, .high = 1})};
  }
  bool operator==(const LinearDecayOptions&) const = default;

  int64_t warmup = 0;
  double final_ratio = 0;
};

/// How the last part of warmup-stable-decay falls from 1 to r = final_ratio.
enum class DecayShape {
  exponential,     ///< r^x (Hu et al. 2024)
  linear,          ///< r + (1 - r) (1 - x)
  one_minus_sqrt,  ///< r + (1 - r) (1 - sqrt(x)) (Haegele et al. 2024, arXiv:2405.18392)
};

template <>
struct EnumNames<DecayShape> {
  static constexpr std::array<std::pair<std::string_view, DecayShape>, 3> value{
      {{"exponential", DecayShape::exponential},
       {"linear", DecayShape::linear},
       {"one_minus_sqrt", DecayShape::one_minus_sqrt}}};
};

/// Flat for most of the run, so that its length need not be known until the decay begins.
struct WsdOptions {
  static constexpr KindInfo info{
      "wsd", "warmup, lr until T (1 - decay_share), then down to lr final_ratio by shape",
      "Hu et al. 2024 (MiniCPM), arXiv:2404.06395"};
  static constexpr bool falls = true;
  static constexpr auto fields() {
    return std::tuple{field("warmup", &WsdOptions::warmup, "W, in steps", at_least_zero),
                      field("decay_share", &WsdOptions::decay_share,
                            "share of all steps in the decay", Bounds{.low = 0, .high = 1}),
                      field("final_ratio", &WsdOptions::final_ratio,
                            "last over peak learning rate; exponential decay needs more than 0",
                            Bounds{.low = 0, .high = 1}),
                      field("shape", &WsdOptions::shape, "shape of the decay")};
  }
  bool operator==(const WsdOptions&) const = default;

  int64_t warmup = 0;
  double decay_share = 0.1;
  double final_ratio = 0.1;
  DecayShape shape = DecayShape::exponential;
};

/// For rules whose rate falls by itself, and for short experiments.
struct ConstantOptions {
  static constexpr KindInfo info{"constant", "lr after the warmup", ""};
  static constexpr bool falls = false;
  static constexpr auto fields() {
    return std::tuple{field("warmup", &ConstantOptions::warmup, "W, in steps", at_least_zero)};
  }
  bool operator==(const ConstantOptions&) const = default;

  int64_t warmup = 0;
};

using ScheduleChoice = std::variant<InverseSqrtOptions, CosineOptions, LinearDecayOptions,
                                    WsdOptions, ConstantOptions>;

/// Whether the rate falls again after the warmup.
bool falls(const ScheduleChoice& choice);

/// Why a schedule cannot be carried out, and the option of it to look at first.
struct ScheduleProblem {
  std::string option, text;
};

/// Problems: a schedule that ends is given no end (`total_steps` below 1), or an exponential decay
/// has to reach 0. Empty when there is none.
std::vector<ScheduleProblem> schedule_problems(const ScheduleChoice& choice, int64_t total_steps);

/// The learning rate of every step; step t of the result is the rate of update t.
///
/// `total_steps` is where cosine, linear and wsd end; they keep their last value after it, while
/// inverse_sqrt and constant do not look at it. A warmup as long as the run leaves no decay. With
/// final_ratio = 0 the decay reaches 0 at step T + 1, after the run, so that its last update is
/// one. RecipeError with the first of `schedule_problems`.
Schedule make_schedule(const ScheduleChoice& choice, double lr, int64_t total_steps);

}  // namespace ballast
