#pragma once

#include <torch/nn/module.h>

#include <tuple>
#include <variant>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/parameter.h"
#include "ballast/kernels/residual_norm.h"

namespace ballast {

/// LayerNorm (Ba et al. 2016): gain * (x - mean)/sqrt(variance + eps) + bias over the features.
struct LayerNormOptions {
  static constexpr KindInfo info{"layer_norm", "gain (x - mean) / sqrt(var + eps) + bias",
                                 "Ba et al. 2016, arXiv:1607.06450"};
  double eps = 1e-5;
  bool bias = true;

  NormSpec spec() const { return {Statistic::layer, eps, EpsPlacement::inside_root}; }
  bool has_bias() const { return bias; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &LayerNormOptions::eps, "added to the variance inside the root", positive),
        field("bias", &LayerNormOptions::bias, "whether there is a bias besides the gain"));
  }
  bool operator==(const LayerNormOptions&) const = default;
};

/// RMSNorm (Zhang & Sennrich 2019): gain * x / root mean square, no mean, no bias.
struct RmsNormOptions {
  static constexpr KindInfo info{"rms_norm", "gain x / sqrt(mean x^2 + eps)",
                                 "Zhang and Sennrich 2019, arXiv:1910.07467"};
  double eps = 1e-6;
  EpsPlacement eps_placement = EpsPlacement::inside_root;

  NormSpec spec() const { return {Statistic::rms, eps, eps_placement}; }
  bool has_bias() const { return false; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &RmsNormOptions::eps, "guards against a zero row", positive),
        field("eps_placement", &RmsNormOptions::eps_placement,
              "inside_root (T5, LLaMA), outside_root (the authors' torch code), or clamp"));
  }
  bool operator==(const RmsNormOptions&) const = default;
};

/// Every normalisation a recipe can name.
using NormChoice = std::variant<LayerNormOptions, RmsNormOptions>;

/// A normalisation over the features of [N, d], with its gain (and bias).
class Norm : public torch::nn::Module, public Described {
 public:
  Norm(const NormChoice& choice, int64_t d_model);

  torch::Tensor forward(const torch::Tensor& x) const;

  /// Gain, bias and rule, for a kernel that fuses the norm into something else.
  NormParameters parameters_and_spec() const { return {gain, bias, spec_}; }

  std::vector<ParameterSlot> describe() override;

  torch::Tensor gain;  ///< [d], starts at 1
  torch::Tensor bias;  ///< [d], starts at 0; undefined where the kind has none

 private:
  NormSpec spec_;
};

}  // namespace ballast
