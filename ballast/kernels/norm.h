#pragma once

#include <torch/types.h>

#include <array>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

enum class Statistic { layer, rms };

/// Where eps stands: sqrt(s + eps), sqrt(s) + eps, or max(sqrt(s), eps). For a row of 1e-4 and eps
/// 1e-6 the three give 0.0995037, 0.990099 and 1, so a checkpoint must say which.
enum class EpsPlacement { inside_root, outside_root, clamp };

template <>
struct EnumNames<EpsPlacement> {
  static constexpr std::array<std::pair<std::string_view, EpsPlacement>, 3> value{
      {{"inside_root", EpsPlacement::inside_root},
       {"outside_root", EpsPlacement::outside_root},
       {"clamp", EpsPlacement::clamp}}};
};

struct NormSpec {
  Statistic statistic = Statistic::layer;
  double eps = 1e-5;
  EpsPlacement placement = EpsPlacement::inside_root;
};

/// What is divided by where the second moment (around the mean, where that is taken away) is
/// `mean_square`, of any shape; never 0.
torch::Tensor norm_divisor(const torch::Tensor& mean_square, const NormSpec& spec);

/// gain * normalised(x) + bias over the last dimension, statistics in float32 or better.
///
/// `layer`: (x - mean) / root of the population variance; `rms`: x / root of the mean square.
/// x [N, d]; gain and bias [d] or undefined. Exact for rows with a large common offset.
torch::Tensor norm(const torch::Tensor& x, const torch::Tensor& gain, const torch::Tensor& bias,
                   const NormSpec& spec);

/// The ATen version, for any device and derivative.
torch::Tensor norm_reference(const torch::Tensor& x, const torch::Tensor& gain,
                             const torch::Tensor& bias, const NormSpec& spec);

}  // namespace ballast
