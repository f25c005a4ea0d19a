#pragma once

#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/parameter.h"
#include "ballast/base/update_size.h"
#include "ballast/parameterization/standard_factor.h"

namespace ballast {

/// Where the scale of a weight lives: the numbers that model, initialiser and optimizer read.
struct Scaling {
  double multiplier = 1;  ///< of the forward pass
  double init_std = 1;    ///< of the stored values
  double lr_scale = 1;    ///< of the learning rate

  bool operator==(const Scaling&) const = default;
};

/// A parameterisation that leaves the factors of the original Transformer as they are.
struct StandardFactors {
  double factor(const FactorFacts& facts) const { return standard_factor(facts); }
  bool operator==(const StandardFactors&) const = default;
};

// Table two. A row answers two questions: how the scale of a parameter that is to act with standard
// deviation `std` is divided (std 0: a vector, or a matrix of one value), and what factor stands at
// a point of the forward pass.

/// The scale lives in the stored values.
struct Standard : StandardFactors {
  static constexpr KindInfo info{"standard", "W ~ std", "-"};

  Scaling scaling(const ParameterFacts&, double std, UpdateSize) const { return {1, std, 1}; }
  bool operator==(const Standard&) const = default;
};

/// The scale lives in the forward pass: stored values have std 1, the product is multiplied by the
/// std that `standard` would have stored. The function at the start is the same, training is not.
struct Ntk : StandardFactors {
  static constexpr KindInfo info{"ntk", "y = b + std W x, W ~ 1",
                                 "Jacot et al. 2018, arXiv:1806.07572"};

  Scaling scaling(const ParameterFacts&, double std, UpdateSize) const {
    return std == 0 ? Scaling{1, 0, 1} : Scaling{std, 1, 1};
  }
  bool operator==(const Ntk&) const = default;
};

/// Every parameterisation a recipe can name.
using ParameterizationChoice = std::variant<Standard, Ntk>;

inline Scaling scaling_of(const ParameterizationChoice& choice, const ParameterFacts& facts,
                          double std, UpdateSize update) {
  return std::visit([&](const auto& rule) { return rule.scaling(facts, std, update); }, choice);
}

inline double factor_of(const ParameterizationChoice& choice, const FactorFacts& facts) {
  return std::visit([&](const auto& rule) { return rule.factor(facts); }, choice);
}

}  // namespace ballast
