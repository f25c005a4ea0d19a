#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/residual/form.h"
#include "ballast/residual/norm_place_schemes.h"

namespace ballast {

// Schemes that are told apart by their coefficients.

/// omega is measured by one forward pass (`calibrate`), then trained, a vector [d], with weight
/// decay as in the authors' Transformer-Clinic. It gives a deep Post-Norm stack, at the start, the
/// light dependence on its branches that Pre-Norm has.
struct Admin {
  static constexpr KindInfo info{"admin", "norm(omega * x + f(x)), omega profiled and trained",
                                 "Liu et al. 2020, arXiv:2004.08249"};
  ResidualForm form(const ResidualSite&) const {
    return {.norms = {Point::stream},
            .shortcut = {
                .trained = true, .profiled = true, .decays = true, .extent = Extent::features}};
  }
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

/// One omega for a whole stack, in closed form: omega^2 = 1, (n+1)/ln(n+1) - 1, or n for an output
/// change of O(n), O(log n), O(1). Admin without a pass to measure it. The authors' package.
struct AdminConstant {
  static constexpr KindInfo info{"admin_constant", "norm(omega x + f(x)), omega from the depth",
                                 "admin-torch 2022"};
  OutputChange output_change = OutputChange::logarithmic;
  bool trained = false;

  /// `connections` is n, 1 or more, of one stack.
  double omega(int connections) const;
  ResidualForm form(const ResidualSite& site) const {
    const double start = omega(site.count);
    return {.norms = {Point::stream},
            .shortcut = trained ? trained_vector(start) : constant(start)};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("output_change", &AdminConstant::output_change,
              "order of the output change in the number of connections: O(n), O(log n), O(1)"),
        field("trained", &AdminConstant::trained, "whether omega is a trained vector"));
  }
  bool operator==(const AdminConstant&) const = default;
};

/// Constant coefficients and smaller weights from the depth, so that an update changes the output
/// by O(1) whatever the depth. Queries and keys keep their scale. For N encoder and M decoder
/// layers (figure 2 of the paper):
///
///     stack of N alone    alpha (2 N)^(1/4)             beta (8 N)^(-1/4)
///     encoder             alpha 0.81 (N^4 M)^(1/16)     beta 0.87 (N^4 M)^(-1/16)
///     decoder             alpha (3 M)^(1/4)             beta (12 M)^(-1/4)
struct DeepNorm {
  static constexpr KindInfo info{"deep_norm", "norm(alpha x + f(x)), gain beta on v, o, ff",
                                 "Wang et al. 2022, arXiv:2203.00555"};
  double alpha(const ResidualSite& site) const;
  double beta(const ResidualSite& site) const;
  ResidualForm form(const ResidualSite& site) const {
    return {.norms = {Point::stream},
            .shortcut = constant(alpha(site)),
            .gains = value_path(beta(site))};
  }
  bool operator==(const DeepNorm&) const = default;
};

/// Every layer is the identity at the start, and there is no norm at all. The scalar is one per
/// layer, as in the authors' Transformer.
struct ReZero {
  static constexpr KindInfo info{"rezero", "x + alpha f(x), alpha trained from 0, one a layer",
                                 "Bachlechner et al. 2020, arXiv:2003.04887"};
  ResidualForm form(const ResidualSite&) const {
    Coefficient alpha = trained_scalar(0);
    alpha.owner = Owner::layer;
    return {.branch = alpha};
  }
  bool operator==(const ReZero&) const = default;
};

/// ReZero with a scalar for each connection, proposed to show what batch norm does for residual
/// nets.
struct SkipInit {
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

/// Pre-Norm whose branches start nearly off, each feature by its own factor; proposed for deep
/// vision Transformers.
struct LayerScale {
  static constexpr KindInfo info{"layer_scale", "x + lambda * f(norm(x)), lambda trained",
                                 "Touvron et al. 2021, arXiv:2103.17239"};
  std::optional<double> initial;  ///< absent: 0.1 up to 18 layers, 1e-5 up to 24, then 1e-6

  double start(const ResidualSite& site) const;
  ResidualForm form(const ResidualSite& site) const {
    return {.norms = {Point::read}, .branch = trained_vector(start(site))};
  }
  StackForm stack() const { return {.norms = {Point::stack}}; }
  static constexpr auto fields() {
    return std::make_tuple(field("initial", &LayerScale::initial,
                                 "lambda before training; absent: by depth, as in the paper"));
  }
  bool operator==(const LayerScale&) const = default;
};

/// alpha grows from 0 to 1 by a fixed step per update and then stays; it is not trained. With
/// `by_layer` layer l, from 1, takes l times as long, so that lower layers learn first (ProRes). t
/// counts updates done, so the first pass has alpha 0.
struct Ramp {
  static constexpr KindInfo info{"ramp", "x + alpha_t f(x), alpha_t = min(1, t / steps)",
                                 "the alpha schedule; ProRes, arXiv:2603.05369"};
  int64_t steps = 1000;  ///< updates until alpha is 1
  bool by_layer = false;
  NormPlacement norm = NormPlacement::pre;

  ResidualForm form(const ResidualSite& site) const {
    return {.norms = norms_of(norm), .branch = ramp(ramp_steps(steps, by_layer, site))};
  }
  StackForm stack() const { return stack_of(norm); }
  static constexpr auto fields() {
    return std::make_tuple(
        field("steps", &Ramp::steps, "updates until alpha is 1", at_least_one),
        field("by_layer", &Ramp::by_layer, "layer l takes l times as many updates (ProRes)"),
        field("norm", &Ramp::norm, "where the norm stands: none, pre, post"));
  }
  bool operator==(const Ramp&) const = default;
};

/// The variance of the stream stays what it was where the branch has it too. The standard
/// deviations that make it so are an initialisation's.
struct DeepScale {
  static constexpr KindInfo info{"deep_scale", "lambda x + beta f(norm(x)), lambda^2 + beta^2 = 1",
                                 "Kedia et al. 2024, arXiv:2403.09635"};
  std::optional<double> beta_squared;
  NormPlacement norm = NormPlacement::pre;

  double beta_squared_at(const ResidualSite& site) const;
  ResidualForm form(const ResidualSite& site) const {
    const double of_branch = beta_squared_at(site);
    return {.norms = norms_of(norm),
            .shortcut = constant(std::sqrt(1 - of_branch)),
            .branch = constant(std::sqrt(of_branch))};
  }
  StackForm stack() const { return stack_of(norm); }
  static constexpr auto fields() {
    return std::make_tuple(
        field("beta_squared", &DeepScale::beta_squared,
              "beta^2; absent: 1 / layers of the stack, 1/2 for one layer", probability),
        field("norm", &DeepScale::norm, "where the norm stands: none, pre, post"));
  }
  bool operator==(const DeepScale&) const = default;
};

/// No norm; shifts from 0 before every matrix and every activation. The small initial weights that
/// it needs are an initialisation's.
struct Fixup {
  static constexpr KindInfo info{"fixup", "x + m f(x), m trained from 1, shifts inside f, no norm",
                                 "Zhang et al. 2019, arXiv:1901.09321"};
  ResidualForm form(const ResidualSite& site) const {
    const bool attends = site.kind != Sublayer::feed_forward;
    return {.branch = trained_scalar(1),
            .shifts = attends ? Points{Point::read, Point::heads}
                              : Points{Point::read, Point::gate, Point::hidden}};
  }
  bool operator==(const Fixup&) const = default;
};

/// The connection of T-Fixup, which leaves everything else to the initial weights. Also what a fold
/// leaves of schemes without norms.
struct NoNorm {
  static constexpr KindInfo info{"no_norm", "x + f(x), no norm anywhere",
                                 "Huang et al. 2020, ICML (T-Fixup)"};
  ResidualForm form(const ResidualSite&) const { return {}; }
  bool operator==(const NoNorm&) const = default;
};

using CoefficientSchemes = std::variant<Admin, AdminConstant, DeepNorm, ReZero, SkipInit,
                                        LayerScale, Ramp, DeepScale, Fixup, NoNorm>;

}  // namespace ballast
