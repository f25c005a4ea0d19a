#include "ballast/values/plan.h"

#include "ballast/base/philox.h"

namespace ballast {
namespace {

Draw start_of(const InventoryEntry& entry) {
  if (entry.start.is_number()) return {Distribution::constant, 0, entry.start.number()};
  return {.distribution = Distribution::constant, .values = entry.start.values()};
}

PlannedParameter planned(const InventoryEntry& entry, const Rules& rules) {
  Draw draw =
      draw_of(rules.init, basis_of(rules.parameterization, entry.facts)).value_or(start_of(entry));
  Scaling scaling = scaling_of(rules.parameterization, entry.facts, draw.std * entry.facts.gain,
                               update_size(rules.optimizer, entry.facts));
  // Without a multiplier to set, the stored values carry the whole scale.
  if (!entry.multiplier) {
    scaling.init_std *= scaling.multiplier;
    scaling.multiplier = 1;
  }
  draw.std = scaling.init_std;
  return {entry, draw, scaling};
}

}  // namespace

Plan plan(torch::nn::Module& model, const Rules& rules) {
  Plan made;
  const Inventory found = inventory(model);
  for (const InventoryEntry& entry : found.parameters) {
    made.parameters.push_back(planned(entry, rules));
  }
  for (const FactorEntry& entry : found.factors) {
    made.factors.push_back({entry, factor_of(rules.parameterization, entry.facts)});
  }
  return made;
}

void parameterize(const Plan& plan) {
  for (const PlannedParameter& each : plan.parameters) {
    if (each.entry.multiplier) *each.entry.multiplier = each.scaling.multiplier;
  }
  for (const PlannedFactor& each : plan.factors) *each.entry.value = each.value;
}

void initialize(const Plan& plan, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  for (const PlannedParameter& each : plan.parameters) {
    const uint64_t key = mix(seed, key_of(each.entry.name));
    torch::Tensor tensor = each.entry.tensor;
    tensor.copy_(drawn(each.draw, tensor.sizes(), key));
  }
  for (const PlannedParameter& each : plan.parameters) {
    torch::Tensor tensor = each.entry.tensor;
    if (each.entry.derived) tensor.copy_(each.entry.derived());
  }
}

std::vector<OptimizedParameter> optimized(const Plan& plan) {
  std::vector<OptimizedParameter> parameters;
  for (const PlannedParameter& each : plan.parameters) {
    parameters.push_back({each.entry.name, each.entry.tensor, each.scaling.lr_scale,
                          each.entry.facts, each.scaling.decay_scale, each.scaling.epsilon_scale});
  }
  return parameters;
}

}  // namespace ballast
