#include "ballast/parameterization/mup_rule.h"

#include <algorithm>
#include <cmath>

#include "ballast/parameterization/standard_factor.h"

namespace ballast {
namespace {

/// What of a parameter grows with the model: both sides of a matrix, the rows of a table or an
/// output, all elements of a vector; or nothing.
enum class Shape { matrix, table, vector, gate, number };

Shape shape_of(const ParameterFacts& facts) {
  const Role role = facts.role;
  if (is_embedding(role) || role == Role::output) return Shape::table;
  if (!is_vector(role)) return Shape::matrix;
  if (role == Role::lane_gate) return Shape::gate;
  // Without a connection a bias is the output's, as long as the vocabulary.
  const bool is_hidden_bias = role == Role::bias && facts.site.has_value();
  const bool is_of_norm = role == Role::norm_gain || role == Role::norm_bias;
  return is_hidden_bias || is_of_norm ? Shape::vector : Shape::number;
}

// How a change of the parameter becomes one of an activation. Input and gradient of a matrix are
// aligned after a step, so an update of rank one with elements u changes a row's product by n u,
// one of full rank by sqrt(n) u. An element of a gradient is 1/m of the base's, by the factor of
// the logits; the product of a gate, and its gradient, have the base's size.
double rate_in_width(Shape shape, UpdateSize update, double m) {
  if (shape == Shape::gate) return 1 / m;
  if (shape == Shape::number) return 1;
  const bool is_matrix = shape == Shape::matrix;
  switch (update) {
    case UpdateSize::adaptive:
      return is_matrix ? 1 / m : 1;
    case UpdateSize::gradient:
      return is_matrix ? 1 : m;
    case UpdateSize::weight:  // a matrix has elements of 1/sqrt(m)
    case UpdateSize::full_rank:
      return is_matrix ? 1 / std::sqrt(m) : 1;
    case UpdateSize::spectral:
      break;
  }
  return 1;
}

int64_t shrunk(int64_t size, double m) {
  return std::max<int64_t>(1, std::llround(static_cast<double>(size) / m));
}

}  // namespace

double MupRule::growth(const ParameterFacts& facts) const {
  // A bias by distance has as many numbers as heads, and no word of the width.
  if (facts.role == Role::position_bias) return 1;
  const int64_t width = facts.site ? facts.site->d_model : facts.fan_in;
  return static_cast<double>(width) / static_cast<double>(base_width);
}

double MupRule::depth_growth(const std::optional<ResidualSite>& site) const {
  if (!site || base_depth == 0) return 1;
  const int layers = site->stack == Stack::encoder ? site->encoder_layers : site->decoder_layers;
  return static_cast<double>(layers) / static_cast<double>(base_depth);
}

ParameterFacts MupRule::basis(const ParameterFacts& facts) const {
  ParameterFacts made = facts;
  const double m = growth(facts);
  made.fan_in = shrunk(facts.fan_in, m);
  if (shape_of(facts) == Shape::matrix) made.fan_out = shrunk(facts.fan_out, m);
  if (made.site) made.site->d_model = base_width;
  if (made.model.d_model > 0) made.model.d_model = base_width;
  if (made.head_width > 0 && base_head_size > 0) made.head_width = base_head_size;
  return made;
}

Scaling MupRule::scaling(const ParameterFacts& facts, double std, UpdateSize update) const {
  const Shape shape = shape_of(facts);
  const double m = growth(facts), deeper = depth_growth(facts.site);
  const double in_width = rate_in_width(shape, update, m);
  // L branches each change the stream by M^-alpha times their own change, which for SGD has the
  // gradient's factor M^-alpha in it.
  const double power = update == UpdateSize::gradient ? 2 * alpha - 1 : alpha - 1;
  return {.init_std = shape == Shape::matrix ? std / std::sqrt(m) : std,
          .lr_scale = in_width * std::pow(deeper, power),
          .decay_scale = 1 / in_width,
          .epsilon_scale = std::pow(deeper, -alpha) / m};
}

double MupRule::factor(const FactorFacts& facts) const {
  const double standard = standard_factor(facts);
  const double m = static_cast<double>(facts.width) / static_cast<double>(base_width);
  switch (facts.point) {
    case Point::scores: {
      const auto base_size = static_cast<double>(base_head_size > 0 ? base_head_size : facts.width);
      return attention_multiplier * standard *
             std::sqrt(base_size / static_cast<double>(facts.width));
    }
    case Point::token:
      return standard / std::sqrt(m);
    case Point::logits:
      return output_multiplier / m;
    case Point::branch:
      return std::pow(depth_growth(facts.site), -alpha);
    default:
      return standard;
  }
}

}  // namespace ballast
