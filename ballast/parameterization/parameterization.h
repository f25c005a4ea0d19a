#pragma once

#include <tuple>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/parameter.h"

namespace ballast {

/// Where the scale of a weight lives: the three numbers that model, initialiser and optimizer read.
struct Scaling {
  double multiplier = 1;  ///< of the forward pass
  double init_std = 1;    ///< of the stored values
  double lr_scale = 1;    ///< of the learning rate

  bool operator==(const Scaling&) const = default;
};

/// The scale lives in the stored values.
struct Standard {
  static constexpr KindInfo info{"standard", "W ~ std", "-"};

  Scaling scaling(const ParameterFacts&, double std) const { return {1, std, 1}; }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const Standard&) const = default;
};

/// The scale lives in the forward pass: stored values have std 1, the product is multiplied by the
/// std that `standard` would have stored. The function at the start is the same, training is not.
struct Ntk {
  static constexpr KindInfo info{"ntk", "y = b + std W x, W ~ 1",
                                 "Jacot et al. 2018, arXiv:1806.07572"};

  Scaling scaling(const ParameterFacts&, double std) const {
    return std == 0 ? Scaling{1, 0, 1} : Scaling{std, 1, 1};
  }
  static constexpr auto fields() { return std::make_tuple(); }
  bool operator==(const Ntk&) const = default;
};

/// Every parameterisation a recipe can name.
using ParameterizationChoice = std::variant<Standard, Ntk>;

/// The scaling of a matrix that is to act with standard deviation `std`.
inline Scaling scaling_of(const ParameterizationChoice& choice, const ParameterFacts& facts,
                          double std) {
  return std::visit([&](const auto& rule) { return rule.scaling(facts, std); }, choice);
}

}  // namespace ballast
