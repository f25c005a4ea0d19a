#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/role.h"
#include "ballast/residual/form.h"

namespace ballast {

// Table one. A row is a name, a formula, a source, its options, the form at a site and the gain it
// asks of the branch's weights. Nothing outside a row asks for its name.

/// A scheme that asks nothing of the weights.
struct NoGain {
  double gain(Role, const ResidualSite&) const { return 1; }
  bool operator==(const NoGain&) const = default;
};

struct PostNorm : NoGain {
  static constexpr KindInfo info{"post_norm", "norm(x + f(x))",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};
  ResidualForm form(const ResidualSite&) const { return {.norm_out = true}; }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const PostNorm&) const = default;
};

struct PreNorm : NoGain {
  static constexpr KindInfo info{"pre_norm", "x + f(norm(x)), norm after the stack",
                                 "Xiong et al. 2020, arXiv:2002.04745"};
  ResidualForm form(const ResidualSite&) const { return {.norm_in = true, .final_norm = true}; }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const PreNorm&) const = default;
};

/// omega is measured by one forward pass (`calibrate`), then trained.
struct Admin : NoGain {
  static constexpr KindInfo info{"admin", "norm(omega * x + f(x)), omega profiled and trained",
                                 "Liu et al. 2020, arXiv:2004.08249"};
  ResidualForm form(const ResidualSite&) const {
    return {.norm_out = true,
            .shortcut = {
                .source = Coefficient::Source::profiled, .trained = true, .per_feature = true}};
  }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const Admin&) const = default;
};

/// How the output change may grow with the number n of residual connections of a stack.
enum class OutputChange { linear, logarithmic, constant };

template <>
struct EnumNames<OutputChange> {
  static constexpr std::array<std::pair<std::string_view, OutputChange>, 3> value{
      {{"O(n)", OutputChange::linear},
       {"O(log n)", OutputChange::logarithmic},
       {"O(1)", OutputChange::constant}}};
};

/// One omega for a whole stack, in closed form: omega^2 = 1, (n+1)/ln(n+1) - 1, or n.
struct AdminConstant : NoGain {
  static constexpr KindInfo info{"admin_constant", "norm(omega x + f(x)), omega from the depth",
                                 "admin-torch 2022"};
  OutputChange output_change = OutputChange::logarithmic;
  bool trained = false;

  double omega(int connections) const;
  ResidualForm form(const ResidualSite& site) const {
    const double start = omega(site.count);
    return {.norm_out = true, .shortcut = trained ? trained_vector(start) : constant(start)};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("output_change", &AdminConstant::output_change,
              "order of the output change in the number of connections: O(n), O(log n), O(1)"),
        field("trained", &AdminConstant::trained, "whether omega is a trained vector"));
  }
  bool operator==(const AdminConstant&) const = default;
};

struct DeepNorm {
  static constexpr KindInfo info{"deep_norm", "norm(alpha x + f(x)), gain beta on v, o, ff",
                                 "Wang et al. 2022, arXiv:2203.00555"};
  double alpha(const ResidualSite& site) const;
  double beta(const ResidualSite& site) const;
  ResidualForm form(const ResidualSite& site) const {
    return {.norm_out = true, .shortcut = constant(alpha(site))};
  }
  double gain(Role role, const ResidualSite& site) const {
    return is_value_path(role) ? beta(site) : 1;
  }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const DeepNorm&) const = default;
};

/// The scalar is one per layer, as in the authors' Transformer.
struct ReZero : NoGain {
  static constexpr KindInfo info{"rezero", "x + alpha f(x), alpha trained from 0, one a layer",
                                 "Bachlechner et al. 2020, arXiv:2003.04887"};
  ResidualForm form(const ResidualSite&) const {
    Coefficient alpha = trained_scalar(0);
    alpha.shared_in_layer = true;
    return {.branch = alpha};
  }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const ReZero&) const = default;
};

struct SkipInit : NoGain {
  static constexpr KindInfo info{"skip_init", "x + alpha f(x), alpha trained",
                                 "De and Smith 2020, arXiv:2002.10444"};
  double initial = 0;

  ResidualForm form(const ResidualSite&) const { return {.branch = trained_scalar(initial)}; }
  static constexpr auto fields() {
    return std::make_tuple(field("initial", &SkipInit::initial,
                                 "alpha before training; the paper allows up to 1/sqrt(depth)"));
  }
  bool operator==(const SkipInit&) const = default;
};

struct LayerScale : NoGain {
  static constexpr KindInfo info{"layer_scale", "x + lambda * f(norm(x)), lambda trained",
                                 "Touvron et al. 2021, arXiv:2103.17239"};
  std::optional<double> initial;  ///< absent: 0.1 up to 18 layers, 1e-5 up to 24, then 1e-6

  double start(const ResidualSite& site) const;
  ResidualForm form(const ResidualSite& site) const {
    return {.norm_in = true, .branch = trained_vector(start(site)), .final_norm = true};
  }
  static constexpr auto fields() {
    return std::make_tuple(field("initial", &LayerScale::initial,
                                 "lambda before training; absent: by depth, as in the paper"));
  }
  bool operator==(const LayerScale&) const = default;
};

struct SandwichNorm : NoGain {
  static constexpr KindInfo info{"sandwich_norm", "x + norm(f(norm(x))), norm after the stack",
                                 "Ding et al. 2021, arXiv:2105.13290"};
  ResidualForm form(const ResidualSite&) const {
    return {.norm_in = true, .norm_mid = true, .final_norm = true};
  }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const SandwichNorm&) const = default;
};

enum class NormPlacement { none, pre, post };

template <>
struct EnumNames<NormPlacement> {
  static constexpr std::array<std::pair<std::string_view, NormPlacement>, 3> value{
      {{"none", NormPlacement::none}, {"pre", NormPlacement::pre}, {"post", NormPlacement::post}}};
};

/// alpha grows from 0 to 1 by a fixed step per update and then stays; it is not trained. With
/// `by_layer` layer l takes l times as long (ProRes).
struct Ramp : NoGain {
  static constexpr KindInfo info{"ramp", "x + alpha_t f(x), alpha_t = min(1, t / steps)",
                                 "the alpha schedule; ProRes, arXiv:2603.05369"};
  int64_t steps = 1000;  ///< updates until alpha is 1
  bool by_layer = false;
  NormPlacement norm = NormPlacement::pre;

  ResidualForm form(const ResidualSite& site) const;
  static constexpr auto fields() {
    return std::make_tuple(
        field("steps", &Ramp::steps, "updates until alpha is 1", at_least_one),
        field("by_layer", &Ramp::by_layer, "layer l takes l times as many updates (ProRes)"),
        field("norm", &Ramp::norm, "where the norm stands: none, pre, post"));
  }
  bool operator==(const Ramp&) const = default;
};

/// Every single-stream scheme a recipe can name.
using ResidualChoice = std::variant<PostNorm, PreNorm, Admin, AdminConstant, DeepNorm, ReZero,
                                    SkipInit, LayerScale, SandwichNorm, Ramp>;

inline ResidualForm form_of(const ResidualChoice& choice, const ResidualSite& site) {
  return std::visit([&](const auto& scheme) { return scheme.form(site); }, choice);
}

inline double gain_of(const ResidualChoice& choice, Role role, const ResidualSite& site) {
  return std::visit([&](const auto& scheme) { return scheme.gain(role, site); }, choice);
}

}  // namespace ballast
