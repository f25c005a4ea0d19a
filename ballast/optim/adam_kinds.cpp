#include "ballast/optim/adam_kinds.h"

#include <cmath>

namespace ballast {
namespace {

/// Root of the bias correction of v over the bias correction of m.
double correction(double beta1, double beta2, int64_t t) {
  return std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
}

template <class Options>
AdamUpdate adam_update(const Options& options, int64_t t) {
  const bool inside = options.eps_placement == EpsilonPlacement::inside_correction;
  return {
      .beta1 = options.beta1,
      .beta2 = options.beta2,
      .step = correction(options.beta1, options.beta2, t),
      .epsilon = inside ? options.eps : options.eps * std::sqrt(1 - std::pow(options.beta2, t))};
}

AdamUpdate update_of(const AdamOptions& options, int64_t t) {
  AdamUpdate update = adam_update(options, t);
  update.l2 = options.weight_decay;
  return update;
}

AdamUpdate update_of(const AdamWOptions& options, int64_t t) {
  AdamUpdate update = adam_update(options, t);
  update.decay = options.weight_decay;
  return update;
}

bool is_rectifiable(const RAdamOptions& options, int64_t t) {
  const double length = averaged_length(options.beta2, t);
  return options.rectification == Rectification::authors ? length >= 5 : length > 4;
}

AdamUpdate update_of(const RAdamOptions& options, int64_t t) {
  AdamUpdate update{.beta1 = options.beta1, .beta2 = options.beta2, .decay = options.weight_decay};
  if (is_rectifiable(options, t)) {
    update.step = rectifier(options.beta2, t) * correction(options.beta1, options.beta2, t);
    update.epsilon = options.eps;
    return update;
  }
  update.root = 0;
  update.epsilon = 1;
  if (options.rectification == Rectification::authors) {
    update.decay = 0;
  } else {
    update.step = 1 / (1 - std::pow(options.beta1, t));
  }
  return update;
}

}  // namespace

AdamUpdate update_at(const OptimizerChoice& choice, int64_t t) {
  return std::visit([t](const auto& options) { return update_of(options, t); }, choice);
}

double peak_lr(const OptimizerChoice& choice) {
  return std::visit([](const auto& options) { return options.lr; }, choice);
}

UpdateSize update_size(const OptimizerChoice& choice) {
  return std::visit([](const auto& options) { return options.update_size; }, choice);
}

double averaged_length(double beta2, int64_t t) {
  const double power = std::pow(beta2, t);
  return 2 / (1 - beta2) - 1 - 2 * static_cast<double>(t) * power / (1 - power);
}

double rectifier(double beta2, int64_t t) {
  const double limit = 2 / (1 - beta2) - 1;
  const double length = averaged_length(beta2, t);
  return std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length));
}

}  // namespace ballast
