#include "ballast/init/depth_inits.h"

#include <cmath>
#include <numbers>

namespace ballast {
namespace {

Draw scaled(Draw draw, double factor) {
  draw.std *= factor;
  return draw;
}

/// Branches of the whole model.
int branches(const ResidualSite& site) {
  const int of_decoder_layer = site.encoder_layers > 0 ? 3 : 2;
  return 2 * site.encoder_layers + of_decoder_layer * site.decoder_layers;
}

/// Of what relu gives for two arguments of N(0, 1) with correlation r, E f(x) f(y) / E f^2
/// (Cho and Saul 2009).
double after_relu(double r) {
  return r + (std::sqrt(1 - r * r) - r * std::acos(r)) / std::numbers::pi;
}

}  // namespace

Draw DsInit::matrix(const ParameterFacts& facts) const {
  const double whole = std::sqrt(glorot_variance(facts));
  if (!facts.site) return {Distribution::uniform, whole};
  const double layer = facts.site->layer + 1;
  const double power = reading == DsReading::paper ? -0.5 : -0.25;
  return {Distribution::uniform, alpha * whole * std::pow(layer, power)};
}

Draw FixupInit::table(const ParameterFacts& facts) const {
  if (facts.role == Role::output) return {Distribution::constant};
  return TablesByWidth().table(facts);
}

Draw FixupInit::matrix(const ParameterFacts& facts) const {
  if (ends_branch(facts.role)) return {Distribution::constant};
  const Draw plain = Fairseq().matrix(facts);
  if (!facts.site) return plain;
  const int matrices = facts.site->kind == Sublayer::feed_forward ? 2 : 4;
  return scaled(plain, std::pow(branches(*facts.site), -1.0 / (2 * matrices - 2)));
}

double TFixupInit::factor(const ResidualSite& site) const {
  if (site.stack == Stack::encoder) return 0.67 * std::pow(site.encoder_layers, -0.25);
  return std::pow(9.0 * site.decoder_layers, -0.25);
}

Draw TFixupInit::table(const ParameterFacts& facts) const {
  const Draw plain = TablesByWidth().table(facts);
  const auto embedding = [&](int layers) {
    return layers == 0 ? plain : scaled(plain, std::pow(9.0 * layers, -0.25));
  };
  if (facts.role == Role::source_embedding) return embedding(facts.model.encoder_layers);
  if (facts.role == Role::target_embedding) return embedding(facts.model.decoder_layers);
  return plain;
}

Draw TFixupInit::matrix(const ParameterFacts& facts) const {
  const Draw plain{Distribution::uniform, std::sqrt(glorot_variance(facts))};
  if (facts.role == Role::query || facts.role == Role::key) return scaled(plain, query_key_gain);
  return facts.site ? scaled(plain, factor(*facts.site)) : plain;
}

Draw LookLinear::matrix(const ParameterFacts& facts) const {
  Draw made = Fairseq().matrix(facts);
  made.stacked = facts.stacked;
  if (facts.role == Role::feed_forward_in) made.mirror = Mirror::rows;
  if (facts.role == Role::feed_forward_out) made.mirror = Mirror::columns;
  return made;
}

Draw DeepScaleInit::table(const ParameterFacts& facts) const {
  if (facts.role == Role::output) return TablesByWidth().table(facts);
  return gaussian(std::sqrt((1 - facts.model.dropout) / static_cast<double>(summed)));
}

// The stream begins with variance 1, which the connections weigh against a branch of variance 1.
double DeepScaleInit::correlation_at(const ParameterFacts& facts, int index, int cycle) const {
  const double kept = 1 - facts.model.dropout;
  const double a = facts.shortcut * facts.shortcut, b = facts.branch * facts.branch;
  double r = correlation * kept, variance = 1;
  for (int i = 0; i < index; ++i) {
    const bool feeds = i % cycle == cycle - 1;
    const double of_branch = kept * (feeds ? after_relu(r) : 1);
    r = (a * r * variance + b * of_branch) / (a * variance + b);
    variance = a * variance + b;
  }
  return r;
}

Draw DeepScaleInit::matrix(const ParameterFacts& facts) const {
  const double kept = 1 - facts.model.dropout, d = stream_width(facts);
  const auto both = static_cast<double>(facts.fan_in) * static_cast<double>(facts.fan_out);
  const bool reads_values = facts.role == Role::value || facts.role == Role::attention_output;
  if (facts.role == Role::feed_forward_in || facts.role == Role::feed_forward_out) {
    return gaussian(std::pow(kept / (facts.activation.value * both), 0.25));
  }
  if (!facts.site || !reads_values) return gaussian(1 / std::sqrt(d));
  const ResidualSite& site = *facts.site;
  const double r = site.kind == Sublayer::cross_attention
                       ? correlation_at(facts, 2 * site.encoder_layers, 2)
                       : correlation_at(facts, site.index, site.count / site.layers());
  return gaussian(std::pow(kept / (r * d * d), 0.25));
}

}  // namespace ballast
