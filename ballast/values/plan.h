#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <vector>

#include "ballast/init/init.h"
#include "ballast/model/inventory.h"
#include "ballast/optim/optimizer.h"
#include "ballast/parameterization/parameterization.h"

namespace ballast {

/// The rules that decide a model's values. What a residual scheme asks of a weight is a fact of the
/// weight and no rule.
struct Rules {
  InitChoice init;
  ParameterizationChoice parameterization;
  OptimizerChoice optimizer = {};  ///< that will train it; rates depend on how its updates follow
};

/// What the rules decide for one parameter. Model, initialiser and optimizer read the same row.
struct PlannedParameter {
  InventoryEntry entry;
  Draw draw;  ///< of the stored values
  Scaling scaling;
};

/// What they decide for one factor of the forward pass that belongs to no parameter.
struct PlannedFactor {
  FactorEntry entry;
  double value = 1;
};

/// Every decision about a model's values. Valid as long as the model.
struct Plan {
  std::vector<PlannedParameter> parameters;
  std::vector<PlannedFactor> factors;
};

/// Decides everything, changes nothing.
Plan plan(torch::nn::Module& model, const Rules& rules);

/// Sets the forward multipliers and factors.
void parameterize(const Plan& plan);

/// Sets every value. A value depends on (seed, name, shape, rule) only, so a second call changes
/// nothing and a further layer reshuffles no other.
void initialize(const Plan& plan, uint64_t seed);

/// What an optimizer changes: every parameter, with weight decay on those that decay.
std::vector<OptimizedParameter> optimized(const Plan& plan);

}  // namespace ballast
