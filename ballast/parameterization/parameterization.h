#pragma once

#include <variant>

#include "ballast/base/choice.h"
#include "ballast/parameterization/mup_kinds.h"
#include "ballast/parameterization/scaling.h"
#include "ballast/parameterization/standard_factor.h"
#include "ballast/parameterization/unit_kinds.h"

namespace ballast {

/// A parameterisation that leaves the factors of the original Transformer as they are.
struct StandardFactors {
  double factor(const FactorFacts& facts) const { return standard_factor(facts); }
  bool operator==(const StandardFactors&) const = default;
};

// Table two. A row answers two questions: how the scale of a parameter that is to act with standard
// deviation `std` is divided (std 0: a vector, or a matrix of one value), and what factor stands at
// a point of the forward pass. It may also say from which facts an initialisation is to give
// that std (`basis`): those of another model than the parameter's own.

/// The scale lives in the stored values.
struct Standard : StandardFactors {
  static constexpr KindInfo info{"standard", "W ~ std", "-"};

  Scaling scaling(const ParameterFacts&, double std, UpdateSize) const { return {1, std, 1}; }
  bool operator==(const Standard&) const = default;
};

/// The scale lives in the forward pass: stored values have std 1, the product is multiplied by the
/// std that `standard` would have stored. The function at the start is the same, training is not:
/// Adam moves every stored value alike. Known as equalised learning rate too (Karras et al. 2017).
struct Ntk : StandardFactors {
  static constexpr KindInfo info{"ntk", "y = b + std W x, W ~ 1",
                                 "Jacot et al. 2018, arXiv:1806.07572; equalised learning rate, "
                                 "Karras et al. 2017, arXiv:1710.10196"};

  Scaling scaling(const ParameterFacts&, double std, UpdateSize) const {
    return std == 0 ? Scaling{1, 0, 1} : Scaling{std, 1, 1};
  }
  bool operator==(const Ntk&) const = default;
};

/// Every parameterisation a recipe can name.
using ParameterizationChoice = std::variant<Standard, Ntk, Mup, DepthMup, CompleteP, UnitMup>;

/// The facts from which an initialisation gives the standard deviation of a parameter.
inline ParameterFacts basis_of(const ParameterizationChoice& choice, const ParameterFacts& facts) {
  const auto asked = [&](const auto& rule) {
    if constexpr (requires { rule.basis(facts); }) {
      return rule.basis(facts);
    } else {
      return facts;
    }
  };
  return std::visit(asked, choice);
}

inline Scaling scaling_of(const ParameterizationChoice& choice, const ParameterFacts& facts,
                          double std, UpdateSize update) {
  return std::visit([&](const auto& rule) { return rule.scaling(facts, std, update); }, choice);
}

inline double factor_of(const ParameterizationChoice& choice, const FactorFacts& facts) {
  return std::visit([&](const auto& rule) { return rule.factor(facts); }, choice);
}

}  // namespace ballast
