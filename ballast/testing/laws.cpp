#include <cmath>

#include "ballast/base/philox.h"
#include "ballast/base/sampling.h"
#include "ballast/testing/toy.h"
#include "ballast/values/calibrate.h"

namespace ballast::testing {

std::shared_ptr<Transformer> moved_toy_model(const LawCase& each_case, const Packed& source,
                                             const Packed& target) {
  auto model = toy_model(each_case);
  calibrate(*model, source, target);
  for (const PlannedParameter& each : plan(*model, {.init = each_case.init}).parameters) {
    const torch::Tensor tensor = each.entry.tensor.detach();
    if (each.entry.facts.role == Role::branch_coefficient) tensor.add_(0.3);
    if (is_vector(each.entry.facts.role) || !each.draw.is_constant()) continue;
    tensor.add_(uniform_numbers(tensor.sizes(), key_of(each.entry.name)) - 0.5);
  }
  model->context().step = 700;
  return model;
}

double gradient_error(Transformer& model, const std::function<torch::Tensor()>& loss) {
  loss().backward();
  const double step = 1e-6;
  double difference = 0, scale = 0;
  for (const InventoryEntry& entry : inventory(model).parameters) {
    const torch::NoGradGuard no_grad;
    const torch::Tensor kept = entry.tensor.clone();
    const torch::Tensor direction =
        (uniform_numbers(kept.sizes(), key_of(entry.name)) * 2 - 1).to(kept.dtype());
    const auto at = [&](double distance) {
      entry.tensor.copy_(kept + distance * direction);
      return loss().item<double>();
    };
    const double measured = (at(step) - at(-step)) / (2 * step);
    entry.tensor.copy_(kept);
    const double given = (entry.tensor.grad() * direction).sum().item<double>();
    difference += (measured - given) * (measured - given);
    scale += measured * measured;
  }
  return std::sqrt(difference / scale);
}

}  // namespace ballast::testing
