#include "ballast/init/shape_inits.h"

#include <algorithm>

namespace ballast {

Draw Fairseq::matrix(const ParameterFacts& facts) const {
  const bool stacked =
      facts.role == Role::query || facts.role == Role::key || facts.role == Role::value;
  const double variance = glorot_variance(facts);
  return {Distribution::uniform, std::sqrt(stacked ? variance / 2 : variance)};
}

Draw Orthogonal::matrix(const ParameterFacts& facts) const {
  const auto columns = static_cast<double>(facts.fan_in);
  const double longer = std::max(columns, static_cast<double>(facts.fan_out));
  return {.distribution = Distribution::orthogonal,
          .std = gain / std::sqrt(keeps_moment ? columns : longer),
          .stacked = facts.stacked};
}

Draw ActivationMatched::matrix(const ParameterFacts& facts) const {
  const bool forward = direction == Direction::forward;
  const auto fan = static_cast<double>(forward ? facts.fan_in : facts.fan_out);
  const SecondMoments read =
      facts.role == Role::feed_forward_out ? facts.activation : SecondMoments{};
  return {distribution, 1 / std::sqrt(fan * (forward ? read.value : read.slope))};
}

}  // namespace ballast
