#pragma once

#include "ballast/residual/residual.h"

namespace ballast::testing {

/// What a scheme puts around a stack; nothing where it says nothing.
template <class Scheme>
StackForm stack_form(const Scheme& scheme) {
  if constexpr (requires { scheme.stack(); }) return scheme.stack();
  return {};
}

/// One connection of a scheme, with LayerNorms.
template <class Scheme>
Residual connection(const Scheme& scheme, const ResidualSite& site) {
  return Residual({.form = scheme.form(site),
                   .norm = LayerNorm{},
                   .site = site,
                   .lanes = stack_form(scheme).lanes});
}

/// Each row less its mean, divided by its standard deviation.
inline torch::Tensor normed(const torch::Tensor& x) { return torch::layer_norm(x, {x.size(1)}); }

/// A branch that is not linear.
inline torch::Tensor bent(const torch::Tensor& h) { return torch::tanh(2 * h) + 0.3; }

}  // namespace ballast::testing
