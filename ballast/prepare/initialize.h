#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "ballast/init/init.h"
#include "ballast/model/inventory.h"
#include "ballast/model/transformer.h"
#include "ballast/parameterization/parameterization.h"

namespace ballast {

/// The gain a residual scheme asks of a weight in a branch.
using Gain = std::function<double(Role, const ResidualSite&)>;

/// The rules that decide a model's values.
struct Rules {
  InitChoice init;
  ParameterizationChoice parameterization;
  Gain gain = [](Role, const ResidualSite&) { return 1.0; };
};

/// What the rules decide for one parameter. Model, initialiser and optimizer read the same row.
struct PlannedParameter {
  InventoryEntry entry;
  Draw draw;  ///< of the stored values
  Scaling scaling;
};

/// The gain of the model's own residual schemes.
Gain gain_of(const ModelOptions& options);

/// Decides everything, changes nothing.
std::vector<PlannedParameter> plan(torch::nn::Module& model, const Rules& rules);

/// Sets the forward multipliers.
void parameterize(const std::vector<PlannedParameter>& plan);

/// Sets every value. A value depends on (seed, name, shape, rule) only, so a second call changes
/// nothing and a further layer reshuffles no other.
void initialize(const std::vector<PlannedParameter>& plan, uint64_t seed);

}  // namespace ballast
