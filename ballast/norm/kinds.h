#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/norm/form.h"

namespace ballast {

template <>
struct EnumNames<EpsPlacement> {
  static constexpr std::array<std::pair<std::string_view, EpsPlacement>, 3> value{
      {{"inside_root", EpsPlacement::inside_root},
       {"outside_root", EpsPlacement::outside_root},
       {"clamp", EpsPlacement::clamp}}};
};

/// The norm of the original Transformer: rows to mean 0 and variance 1. Choose it to reproduce
/// published results of Post-Norm, Admin or DeepNorm.
struct LayerNorm {
  static constexpr KindInfo info{"layer_norm", "gain (x - mean) / sqrt(var + eps) + bias",
                                 "Ba et al. 2016, arXiv:1607.06450"};
  double eps = 1e-5;
  bool bias = true;

  NormForm form() const { return {.eps = eps, .bias = bias}; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &LayerNorm::eps, "added to the variance inside the root", positive),
        field("bias", &LayerNorm::bias, "whether there is a bias besides the gain"));
  }
  bool operator==(const LayerNorm&) const = default;
};

/// Layer norm without the mean: one statistic less to take, a re-scaling with no re-centering. That
/// of T5, LLaMA and most later language models.
struct RmsNorm {
  static constexpr KindInfo info{"rms_norm", "gain x / sqrt(mean x^2 + eps)",
                                 "Zhang and Sennrich 2019, arXiv:1910.07467"};
  double eps = 1e-6;
  EpsPlacement eps_placement = EpsPlacement::inside_root;
  bool one_plus_gain = false;

  NormForm form() const {
    return {.center = false,
            .eps = eps,
            .placement = eps_placement,
            .one_plus_gain = one_plus_gain,
            .bias = false};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &RmsNorm::eps, "guards against a zero row", positive),
        field("eps_placement", &RmsNorm::eps_placement,
              "inside_root (T5, LLaMA), outside_root (the authors' torch code), or clamp"),
        field("one_plus_gain", &RmsNorm::one_plus_gain,
              "the gain is stored less 1 (Gemma), so that weight decay draws it to 1"));
  }
  bool operator==(const RmsNorm&) const = default;
};

/// Rows to a trained length: one number in place of a gain for each feature. Proposed for
/// translation with little data; |x| is the Euclidean length of a row.
struct ScaleNorm {
  static constexpr KindInfo info{"scale_norm", "g x / max(|x|, eps), one g, from sqrt(d)",
                                 "Nguyen and Salazar 2019, arXiv:1910.05895"};
  double eps = 1e-5;

  NormForm form() const {
    return {.center = false,
            .eps = eps,
            .placement = EpsPlacement::clamp,
            .to_length = true,
            .gain = GainExtent::one,
            .bias = false};
  }
  static constexpr auto fields() {
    return std::make_tuple(field("eps", &ScaleNorm::eps, "least length divided by", positive));
  }
  bool operator==(const ScaleNorm&) const = default;
};

/// The statistics are those of all tokens of a batch, feature by feature; no token is a pad.
/// Running ones act in evaluation. To compare with: a token's result depends on the whole batch and
/// on tokens after it, so a causal decoder refuses it (`model/contradictions.h`), as all norms over
/// several rows.
struct BatchNorm {
  static constexpr KindInfo info{"batch_norm",
                                 "gain (x - mean_batch) / sqrt(var_batch + eps) + bias",
                                 "Ioffe and Szegedy 2015, arXiv:1502.03167"};
  double eps = 1e-5;
  double momentum = 0.1;

  NormForm form() const {
    return {.over = Over::batch,
            .groups = NormForm::each_feature,
            .eps = eps,
            .running_share = momentum};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &BatchNorm::eps, "added to the variance inside the root", positive),
        field("momentum", &BatchNorm::momentum,
              "share of a batch in the running statistics (PyTorch's meaning; Keras's 0.99 is 0.01 "
              "here)",
              Bounds{.low = 0, .high = 1, .open_low = true}));
  }
  bool operator==(const BatchNorm&) const = default;
};

/// Statistics of a sequence, over its tokens and one of equal groups of features. RecipeError from
/// `Norm` where `groups` does not divide the features. Not for causal decoders, like batch norm.
struct GroupNorm {
  static constexpr KindInfo info{"group_norm",
                                 "layer_norm over a group of features of all tokens of a sequence",
                                 "Wu and He 2018, arXiv:1803.08494"};
  int64_t groups = 32;
  double eps = 1e-5;

  NormForm form() const { return {.over = Over::sequence, .groups = groups, .eps = eps}; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("groups", &GroupNorm::groups, "equal parts of the features", at_least_one),
        field("eps", &GroupNorm::eps, "added to the variance inside the root", positive));
  }
  bool operator==(const GroupNorm&) const = default;
};

/// Group norm with as many groups as features: each feature of a sequence to mean 0 and variance 1
/// over its tokens.
struct InstanceNorm {
  static constexpr KindInfo info{"instance_norm",
                                 "(x - mean) / sqrt(var + eps), a feature over a sequence",
                                 "Ulyanov et al. 2016, arXiv:1607.08022"};
  double eps = 1e-5;
  bool affine = false;

  NormForm form() const {
    return {.over = Over::sequence,
            .groups = NormForm::each_feature,
            .eps = eps,
            .gain = affine ? GainExtent::features : GainExtent::none,
            .bias = affine};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("eps", &InstanceNorm::eps, "added to the variance inside the root", positive),
        field("affine", &InstanceNorm::affine, "whether there are gain and bias"));
  }
  bool operator==(const InstanceNorm&) const = default;
};

/// A squashing function in place of statistics: no row is measured, large values saturate. alpha is
/// one trained scalar; its start matters and should fall with the width.
struct DynamicTanh {
  static constexpr KindInfo info{"dyt", "gain tanh(alpha x) + bias, one alpha, no statistics",
                                 "Zhu et al. 2025, arXiv:2503.10622"};
  double alpha = 0.5;
  bool bias = true;

  NormForm form() const { return {.function = Pointwise::tanh, .alpha = alpha, .bias = bias}; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("alpha", &DynamicTanh::alpha,
              "start; language models: 0.8 before attention and 0.2 elsewhere, less when wider",
              positive),
        field("bias", &DynamicTanh::bias, "whether there is a bias besides the gain"));
  }
  bool operator==(const DynamicTanh&) const = default;
};

/// The same with the error function and a trained scalar s, from 0, before it.
struct DynamicErf {
  static constexpr KindInfo info{"derf", "gain erf(alpha x + s) + bias, one alpha, one s",
                                 "Chen et al. 2025, arXiv:2512.10938"};
  double alpha = 0.5;

  NormForm form() const { return {.function = Pointwise::erf, .alpha = alpha, .shifted = true}; }
  static constexpr auto fields() {
    return std::make_tuple(field("alpha", &DynamicErf::alpha, "start", positive));
  }
  bool operator==(const DynamicErf&) const = default;
};

/// Every normalisation a recipe can name.
using NormChoice = std::variant<LayerNorm, RmsNorm, ScaleNorm, BatchNorm, GroupNorm, InstanceNorm,
                                DynamicTanh, DynamicErf>;

inline NormForm form_of(const NormChoice& choice) {
  return std::visit([](const auto& kind) { return kind.form(); }, choice);
}

}  // namespace ballast
