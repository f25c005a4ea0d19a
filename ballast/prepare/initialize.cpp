#include "ballast/prepare/initialize.h"

#include "ballast/base/philox.h"

namespace ballast {
namespace {

PlannedParameter planned(const InventoryEntry& entry, const Rules& rules) {
  if (is_vector(entry.facts.role)) {
    return {entry, {Distribution::constant, 0, entry.start}, {1, 0, 1}};
  }
  Draw draw = draw_of(rules.init, entry.facts);
  if (entry.facts.site) draw.std *= rules.gain(entry.facts.role, *entry.facts.site);
  Scaling scaling = scaling_of(rules.parameterization, entry.facts, draw.std);
  // A foreign module has no multiplier to set, so its stored values carry the whole scale.
  if (!entry.multiplier) scaling = {1, scaling.multiplier * scaling.init_std, scaling.lr_scale};
  draw.std = scaling.init_std;
  return {entry, draw, scaling};
}

}  // namespace

Gain gain_of(const ModelOptions& options) {
  return [options](Role role, const ResidualSite& site) {
    return gain_of(options.residual_of(site.stack), role, site);
  };
}

std::vector<PlannedParameter> plan(torch::nn::Module& model, const Rules& rules) {
  std::vector<PlannedParameter> all;
  for (const InventoryEntry& entry : inventory(model)) all.push_back(planned(entry, rules));
  return all;
}

void parameterize(const std::vector<PlannedParameter>& plan) {
  for (const PlannedParameter& each : plan) {
    if (each.entry.multiplier) *each.entry.multiplier = each.scaling.multiplier;
  }
}

void initialize(const std::vector<PlannedParameter>& plan, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  for (const PlannedParameter& each : plan) {
    const uint64_t key = mix(seed, key_of(each.entry.name));
    torch::Tensor tensor = each.entry.tensor;
    tensor.copy_(drawn(each.draw, tensor.sizes(), key));
  }
}

}  // namespace ballast
