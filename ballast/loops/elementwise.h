#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ballast/loops/activation.h"

namespace ballast {

/// What can be known of a function without a tensor: its name, its value and slope in float64. `a`
/// is the activation's parameter.
struct ElementwiseInfo {
  Elementwise function;
  std::string_view name;
  double (*value)(double x, double a);
  double (*slope)(double x, double a);
};

/// All of them, each at the place of its number. None has a kink but at 0.
std::span<const ElementwiseInfo> elementwise_functions();

inline const ElementwiseInfo& info_of(Elementwise function) {
  return elementwise_functions()[static_cast<size_t>(function)];
}

}  // namespace ballast
