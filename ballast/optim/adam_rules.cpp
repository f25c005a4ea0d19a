#include "ballast/optim/adam_rules.h"

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

bool is_rectifiable(const RAdam& options, int64_t t) {
  const double length = averaged_length(options.beta2, t);
  return options.rectification == Rectification::authors ? length >= 5 : length > 4;
}

AdamUpdate scaled(AdamUpdate update, const ParameterStep& step) {
  update.step *= step.rate();
  update.decay = step.decay(update.decay) * step.rate();
  update.l2 = step.decay(update.l2);
  // Plain momentum has a divisor of 1 there, and no eps.
  if (update.root != 0) update.epsilon *= step.epsilon_scale;
  update.gradient_scale = step.gradient_scale;
  return update;
}

/// One sweep over all parameters.
void update_by(const AdamUpdate& update, std::span<const ParameterStep> all) {
  std::vector<AdamTensors> tensors;
  tensors.reserve(all.size());
  for (const ParameterStep& each : all) {
    tensors.push_back({each.value, each.gradient, each.state[0].tensor, each.state[1].tensor,
                       scaled(update, each)});
  }
  adam(tensors);
}

}  // namespace

AdamUpdate update_at(const Adam& options, int64_t t) {
  AdamUpdate update = adam_update(options, t);
  update.l2 = options.weight_decay;
  return update;
}

AdamUpdate update_at(const AdamW& options, int64_t t) {
  AdamUpdate update = adam_update(options, t);
  update.decay = options.weight_decay;
  return update;
}

AdamUpdate update_at(const RAdam& options, int64_t t) {
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

void RAdam::update(std::span<const ParameterStep> all, int64_t t) const {
  update_by(update_at(*this, t), all);
}

void Adam::update(std::span<const ParameterStep> all, int64_t t) const {
  update_by(update_at(*this, t), all);
}

void AdamW::update(std::span<const ParameterStep> all, int64_t t) const {
  update_by(update_at(*this, t), all);
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
