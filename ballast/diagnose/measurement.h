#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/point.h"
#include "ballast/base/role.h"

namespace ballast {

/// Something that an instrument measures of a model.
enum class Quantity {
  second_moment,  ///< mean square of the elements of a tensor
  gradient,       ///< Frobenius norm of the loss' gradient by a tensor, loss per token
  own_share,  ///< m2(b f) / (m2(b f) + m2(a x)): beta_{i,i}^2 of METHODS 6.2, branch uncorrelated
  score_factor,     ///< the factor of q k^T times sqrt(K)
  logit_deviation,  ///< of a row of q k^T, scaled: standard deviation over keys, mean over rows
  largest_logit,    ///< largest |q k^T|, scaled
  entropy,     ///< of attention: - sum p ln p over the keys that a row sees / ln of their number
  idle_units,  ///< share of a hidden layer's units that are 0 for every token
  saturated_units,  ///< share of pre-activations where the slope is below 0.05 of its largest
  loss,             ///< nats per token, without smoothing
  row_deviation,    ///< of the rows at `logits`: standard deviation over the vocabulary, mean
  row_likeness,     ///< mean cosine between two rows of a tensor, of different tokens
  largest,          ///< largest magnitude of an element
  not_finite,       ///< elements that are NaN or infinite
  twins,            ///< parameters that hold the same values as this one
  weight_size,      ///< root mean square of a parameter over the deviation that was planned
  weight_gradient,  ///< root mean square of the gradient of all of a connection's matrices
  output_change,    ///< mean square change of a stream after a perturbation of all weights
  update_ratio,     ///< norm of the first update over that of the weights
  sharpness         ///< largest eigenvalue of the preconditioned Hessian
};

template <>
struct EnumNames<Quantity> {
  static constexpr std::array<std::pair<std::string_view, Quantity>, 20> value{
      {{"second_moment", Quantity::second_moment},
       {"gradient", Quantity::gradient},
       {"own_share", Quantity::own_share},
       {"score_factor", Quantity::score_factor},
       {"logit_deviation", Quantity::logit_deviation},
       {"largest_logit", Quantity::largest_logit},
       {"entropy", Quantity::entropy},
       {"idle_units", Quantity::idle_units},
       {"saturated_units", Quantity::saturated_units},
       {"loss", Quantity::loss},
       {"row_deviation", Quantity::row_deviation},
       {"row_likeness", Quantity::row_likeness},
       {"largest", Quantity::largest},
       {"not_finite", Quantity::not_finite},
       {"twins", Quantity::twins},
       {"weight_size", Quantity::weight_size},
       {"weight_gradient", Quantity::weight_gradient},
       {"output_change", Quantity::output_change},
       {"update_ratio", Quantity::update_ratio},
       {"sharpness", Quantity::sharpness}}};
};

/// Where something was measured: a point of a connection, of what surrounds a stack, or a
/// parameter.
struct Spot {
  Point point = Point::logits;
  std::optional<Stack> stack = {};
  std::optional<ResidualSite> site = {};
  std::string parameter = {};

  /// encoder.3.self_attention.query (blocks from 0), decoder.stack, logits, or the parameter.
  std::string name() const;
};

struct Measurement {
  Quantity quantity = Quantity::loss;
  Spot spot;
  double value = 0;
  std::optional<double> expected = {};  ///< by theory; absent where it says nothing
};

/// All that was measured, in the order of the forward pass.
class Measurements {
 public:
  void add(Measurement measurement) { all_.push_back(std::move(measurement)); }
  const std::vector<Measurement>& all() const { return all_; }

  using Choice = std::function<bool(const Measurement&)>;

  /// Those of a quantity, at a point if one is given.
  std::vector<const Measurement*> of(Quantity quantity, std::optional<Point> point = {}) const;

  /// The largest or smallest of a quantity; null where there is none. NaN counts as largest.
  const Measurement* largest(Quantity quantity, std::optional<Point> point = {}) const;
  const Measurement* smallest(Quantity quantity, std::optional<Point> point = {}) const;

 private:
  std::vector<Measurement> all_;
};

}  // namespace ballast
