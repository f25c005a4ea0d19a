#include "ballast/init/model_inits.h"

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

double inverse_root(double x) { return 1 / std::sqrt(x); }

/// 1/sqrt(n) for the last matrix of a branch, else 1.
double branch_end_factor(const ParameterFacts& facts) {
  if (!facts.site || !ends_branch(facts.role)) return 1;
  return inverse_root(facts.site->count);
}

}  // namespace

Draw T5Init::matrix(const ParameterFacts& facts) const {
  double std = factor * inverse_root(static_cast<double>(facts.fan_in));
  const double of_heads = inverse_root(static_cast<double>(std::max<int64_t>(facts.head_width, 1)));
  const bool shares = facts.role == Role::query || facts.role == Role::key;
  if (shared_by_key && shares) std *= std::sqrt(of_heads);
  if (!shared_by_key && facts.role == Role::query) std *= of_heads;
  const bool feeds = facts.role == Role::feed_forward_in || facts.role == Role::feed_forward_out;
  return gaussian(std, feeds ? truncation : Truncation::none);
}

std::optional<Draw> T5Init::vector(const ParameterFacts& facts) const {
  if (facts.role != Role::position_bias || facts.model.d_model == 0) return {};
  return gaussian(factor * inverse_root(static_cast<double>(facts.model.d_model)));
}

Draw Gpt2Init::matrix(const ParameterFacts& facts) const {
  return gaussian(std * (scales_branches ? branch_end_factor(facts) : 1));
}

Draw MegatronInit::matrix(const ParameterFacts& facts) const {
  return gaussian(sigma * branch_end_factor(facts));
}

Draw SmallInit::matrix(const ParameterFacts& facts) const {
  const bool feeds = facts.role == Role::feed_forward_in || facts.role == Role::feed_forward_out;
  if (feeds && !everywhere) return gaussian(std::sqrt(glorot_variance(facts)));
  return gaussian(std::sqrt(2 / (5 * stream_width(facts))));
}

Draw WangInit::matrix(const ParameterFacts& facts) const {
  if (!facts.site || !ends_branch(facts.role)) return SmallInit{.everywhere = true}.matrix(facts);
  return gaussian(2 / (facts.site->layers() * std::sqrt(stream_width(facts))));
}

Draw SmallInitEmbeddings::table(const ParameterFacts& facts) const {
  if (facts.role == Role::position_embedding) return {Distribution::constant};
  if (facts.role == Role::output) return TablesByWidth().table(facts);
  return {Distribution::uniform, bound / std::sqrt(3.0)};
}

}  // namespace ballast
