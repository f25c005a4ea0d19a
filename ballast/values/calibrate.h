#pragma once

#include <vector>

#include "ballast/base/role.h"
#include "ballast/model/transformer.h"

namespace ballast {

/// What one forward pass measured at one residual connection.
struct ProfiledSite {
  ResidualSite site;
  double omega = 1;              ///< shortcut coefficient in force, see `Residual::acting_shortcut`
  double shortcut_variance = 0;  ///< of x, over all its elements
  double branch_variance = 0;    ///< of f, dropout included, over all its elements
};

/// In forward order, encoder before decoder.
using Profile = std::vector<ProfiledSite>;

/// Sets every profiled shortcut coefficient from one forward pass over a batch.
///
/// The Admin procedure (Transformer-Clinic): in training mode, stack by stack,
/// omega_1 = 1 and omega_{i+1}^2 = omega_i^2 Var(x_{i-1}) + Var(f_i), each omega in force from the
/// moment it is known, Var over all elements of the packed rows. Connections without a profiled
/// coefficient are measured too and left alone. Values before the call do not matter, so a second
/// call with the same batch and step sets the same.
Profile calibrate(Transformer& model, const Packed& source, const Packed& target);

}  // namespace ballast
