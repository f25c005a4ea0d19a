#include "ballast/residual/schemes.h"

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

bool is_single_stack(const ResidualSite& site) {
  return site.encoder_layers == 0 || site.decoder_layers == 0;
}

}  // namespace

double AdminConstant::omega(int connections) const {
  const double n = connections;
  switch (output_change) {
    case OutputChange::linear:
      return 1;
    case OutputChange::logarithmic:
      return std::sqrt((n + 1) / std::log(n + 1) - 1);
    case OutputChange::constant:
      break;
  }
  return std::sqrt(n);
}

// Wang et al. 2022, figure 2: N encoder layers, M decoder layers.
double DeepNorm::alpha(const ResidualSite& site) const {
  const double n = site.encoder_layers, m = site.decoder_layers;
  if (is_single_stack(site)) return std::pow(2.0 * site.layers(), 0.25);
  if (site.stack == Stack::encoder) return 0.81 * std::pow(std::pow(n, 4) * m, 1.0 / 16);
  return std::pow(3 * m, 0.25);
}

double DeepNorm::beta(const ResidualSite& site) const {
  const double n = site.encoder_layers, m = site.decoder_layers;
  if (is_single_stack(site)) return std::pow(8.0 * site.layers(), -0.25);
  if (site.stack == Stack::encoder) return 0.87 * std::pow(std::pow(n, 4) * m, -1.0 / 16);
  return std::pow(12 * m, -0.25);
}

double LayerScale::start(const ResidualSite& site) const {
  if (initial) return *initial;
  const int layers = site.layers();
  if (layers <= 18) return 0.1;
  return layers <= 24 ? 1e-5 : 1e-6;
}

double DeepScale::beta_squared_at(const ResidualSite& site) const {
  // 1 / layers would leave nothing of the shortcut where there is one layer.
  return beta_squared.value_or(1.0 / std::max(layers_of(site), 2));
}

ResidualForm form_of(const ResidualChoice& choice, const ResidualSite& site) {
  return std::visit([&](const auto& scheme) { return scheme.form(site); }, choice);
}

StackForm stack_of(const ResidualChoice& choice) {
  return std::visit(
      [](const auto& scheme) -> StackForm {
        if constexpr (requires { scheme.stack(); }) return scheme.stack();
        return {};
      },
      choice);
}

}  // namespace ballast
