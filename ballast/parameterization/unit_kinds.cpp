#include "ballast/parameterization/unit_kinds.h"

#include <cmath>

#include "ballast/parameterization/standard_factor.h"

namespace ballast {
namespace {

bool is_hidden_matrix(const ParameterFacts& facts) {
  return !is_embedding(facts.role) && facts.role != Role::output && !is_vector(facts.role);
}

// Of `mup` at a base width of 1, with what its 1/sqrt(m) of a stored matrix is as a multiplier:
// then the stored one moves sqrt(m) times as far, and SGD's gradient is 1/sqrt(m) of what it was.
double rate(const ParameterFacts& facts, UpdateSize update) {
  const auto width = static_cast<double>(facts.fan_in);
  const bool is_table = is_embedding(facts.role), is_matrix = is_hidden_matrix(facts);
  switch (update) {
    case UpdateSize::adaptive:
    case UpdateSize::weight:
      return is_matrix || is_table ? 1 / std::sqrt(width) : 1;
    case UpdateSize::gradient:
      return width;
    case UpdateSize::spectral:
      return is_matrix ? std::sqrt(width) : 1;
    case UpdateSize::full_rank:
      break;
  }
  return 1;
}

}  // namespace

Scaling UnitMup::scaling(const ParameterFacts& facts, double std, UpdateSize update) const {
  Scaling made{.init_std = std, .lr_scale = rate(facts, update)};
  if (!is_vector(facts.role) && std != 0) made.init_std = 1;
  if (is_hidden_matrix(facts)) {
    made.multiplier = facts.gain / std::sqrt(static_cast<double>(facts.fan_in));
  }
  if (facts.site && update != UpdateSize::gradient) {
    const ResidualSite& site = *facts.site;
    const int layers = site.stack == Stack::encoder ? site.encoder_layers : site.decoder_layers;
    made.lr_scale /= std::sqrt(static_cast<double>(layers));
  }
  return made;
}

double UnitMup::ratio(const ResidualSite& site) const {
  const double feed_forward = residual * std::sqrt(2 / (1 + std::pow(residual_attention, 2)));
  const double attention = residual_attention * feed_forward;
  const double before_feed_forward = site.layer;  // each block ends with one
  const double before_attention = site.index - site.layer;
  const double own = site.kind == Sublayer::feed_forward ? feed_forward : attention;
  return own / std::sqrt(site.count / 2.0 + before_attention * attention * attention +
                         before_feed_forward * feed_forward * feed_forward);
}

double UnitMup::factor(const FactorFacts& facts) const {
  const auto width = static_cast<double>(facts.width);
  switch (facts.point) {
    case Point::scores:
      return attention_multiplier / width;
    case Point::token:
      return 1;
    case Point::logits:
      return output_multiplier / width;
    case Point::lane:
      return facts.site ? 1 / std::hypot(1.0, ratio(*facts.site)) : 1;
    case Point::branch:
      return facts.site ? ratio(*facts.site) / std::hypot(1.0, ratio(*facts.site)) : 1;
    default:
      return standard_factor(facts);
  }
}

}  // namespace ballast
