#include "ballast/diagnose/signal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "ballast/base/moments.h"
#include "ballast/diagnose/attention_sight.h"

namespace ballast {
namespace {

constexpr int64_t rows_of_units = 256;   // of pre-activations whose slopes are looked at
constexpr int64_t rows_of_logits = 256;  // of which all V logits are made

/// Watches one pass; gradients arrive when it is run backwards.
class Signal {
 public:
  Signal(const Subject& subject, Measurements& found)
      : subject_(subject), found_(found), spots_(subject.model) {}

  torch::Tensor see(const Passing& passing, const torch::Tensor& value) {
    const std::optional<Spot> spot = spots_.of(passing);
    if (!spot || passing.lane > 0) {
      ++lanes_[&passing.module];
      return value;
    }
    see_size(*spot, value);
    see_gradient(*spot, value);
    const torch::NoGradGuard no_grad;
    if (passing.point == Point::lane) streams_[&passing.module] = value;
    if (passing.point == Point::branch) see_share(*spot, passing, value);
    if (passing.point == Point::query || passing.point == Point::key) {
      see_attention(*spot, passing, value);
    }
    if (passing.point == Point::gate) see_slopes(*spot, passing, value);
    if (passing.point == Point::hidden) see_units(*spot, value);
    if (passing.point == Point::stream || passing.point == Point::stack) see_rows(*spot, value);
    return value;
  }

  /// After the backward pass, with the number of targets.
  void add_gradients(double tokens) {
    for (const auto& [spot, norm] : gradients_) {
      if (!std::isnan(*norm)) add(Quantity::gradient, spot, *norm / tokens);
    }
  }

 private:
  void add(Quantity quantity, const Spot& spot, double value, std::optional<double> expected = {}) {
    found_.add({quantity, spot, value, expected});
  }

  void see_size(const Spot& spot, const torch::Tensor& value) {
    add(Quantity::second_moment, spot, moments(value.detach()).second);
    const double largest = value.detach().abs().max().item<double>();
    add(Quantity::largest, spot, largest);
    if (!std::isfinite(largest)) {
      add(Quantity::not_finite, spot,
          static_cast<double>((~value.isfinite()).sum().item<int64_t>()), 0);
    }
  }

  void see_gradient(const Spot& spot, const torch::Tensor& value) {
    if (!value.requires_grad()) return;
    const auto norm = std::make_shared<double>(NAN);
    value.register_hook([norm](const torch::Tensor& gradient) {
      *norm = gradient.to(torch::kFloat32).norm().item<double>();
    });
    gradients_.emplace_back(spot, norm);
  }

  void see_share(const Spot& spot, const Passing& passing, const torch::Tensor& f) {
    const torch::Tensor& x = streams_[&passing.module];
    const bool has_one_lane = lanes_.count(&passing.module) == 0;
    if (!has_one_lane || !x.defined()) return;
    const auto& residual = dynamic_cast<const Residual&>(passing.module);
    const Residual::Coefficients now = residual.acting_coefficients();
    const double kept = moments(x * now.shortcut).second, given = moments(f * now.branch).second;
    add(Quantity::own_share, spot, given / (kept + given));
    streams_.erase(&passing.module);
  }

  void see_attention(const Spot& spot, const Passing& passing, const torch::Tensor& value) {
    auto& [q, k] = pairs_[&passing.module];
    (passing.point == Point::query ? q : k) = value;
    if (!q.defined() || !k.defined()) return;
    const bool crosses = spot.site->kind == Sublayer::cross_attention;
    const ModelShape shape = subject_.model.options().shape();
    const Segments& own =
        (*spot.stack == shape.target ? subject_.batch.target_input : subject_.batch.source)
            .segments;
    const int64_t heads = subject_.model.options().heads;
    const double scale = dynamic_cast<const Attention&>(passing.module).score_scale();
    const AttentionStatistics seen =
        attention_statistics(q, k, own, crosses ? subject_.batch.source.segments : own,
                             {.heads = heads,
                              .key_value_heads = k.size(1) * heads / q.size(1),
                              .scale = scale,
                              .causal = *spot.stack == Stack::decoder && !crosses});
    Spot at = spot;
    at.point = Point::scores;
    const double factor = scale * std::sqrt(static_cast<double>(q.size(1) / heads));
    add(Quantity::score_factor, at, factor, 1);
    // Of independent rows: K products of variance m2(q) m2(k).
    add(Quantity::logit_deviation, at, seen.deviation,
        factor * std::sqrt(moments(q).second * moments(k).second));
    add(Quantity::largest_logit, at, seen.largest);
    add(Quantity::entropy, at, seen.entropy);
    pairs_.erase(&passing.module);
  }

  void see_slopes(const Spot& spot, const Passing& passing, const torch::Tensor& value) {
    const Activation& activation = dynamic_cast<const FeedForward&>(passing.module).activation();
    const torch::Tensor some = value.narrow(0, 0, std::min(rows_of_units, value.size(0)))
                                   .narrow(1, 0, value.size(1) / activation.arguments());
    add(Quantity::saturated_units, spot, saturated_share(activation, some),
        saturated_share(activation));
  }

  void see_units(const Spot& spot, const torch::Tensor& value) {
    add(Quantity::idle_units, spot, (value == 0).all(0).to(torch::kFloat64).mean().item<double>(),
        0);
  }

  void see_rows(const Spot& spot, const torch::Tensor& value) {
    const auto rows = static_cast<double>(value.size(0));
    if (rows < 2) return;
    const torch::Tensor x = value.detach().to(torch::kFloat64);
    const torch::Tensor sum = (x / x.norm(2, 1, true).clamp_min(1e-30)).sum(0);
    add(Quantity::row_likeness, spot,
        (sum.square().sum().item<double>() - rows) / (rows * (rows - 1)));
  }

  const Subject& subject_;
  Measurements& found_;
  Spots spots_;
  std::map<const Bound*, torch::Tensor> streams_;
  std::map<const Bound*, int> lanes_;
  std::map<const Bound*, std::pair<torch::Tensor, torch::Tensor>> pairs_;
  std::vector<std::pair<Spot, std::shared_ptr<double>>> gradients_;
};

void measure_output(const CrossEntropyInputs& predictions, double loss, Measurements& found) {
  const torch::NoGradGuard no_grad;
  const int64_t rows = std::min(rows_of_logits, predictions.hidden.size(0));
  torch::Tensor logits =
      predictions.hidden.narrow(0, 0, rows).matmul(predictions.weight.t()) * predictions.multiplier;
  if (predictions.bias.defined()) logits = logits + predictions.bias;
  logits = logits.to(torch::kFloat64);
  const Spot spot{.point = Point::logits};
  const double deviation = logits.std(1, false).mean().item<double>();
  const double vocabulary = std::log(static_cast<double>(logits.size(1)));
  found.add({Quantity::row_deviation, spot, deviation, std::nullopt});
  found.add({Quantity::loss, spot, loss, vocabulary});
  found.add({Quantity::second_moment, spot, logits.square().mean().item<double>(), std::nullopt});
}

bool answers_for_branch(const PlannedParameter& each) {
  switch (each.entry.facts.role) {
    case Role::bias:
    case Role::norm_gain:
    case Role::norm_bias:
    case Role::shortcut_coefficient:
    case Role::lane_gate:
      return false;
    default:
      return each.entry.facts.site.has_value();
  }
}

/// Root mean square by connection.
void measure_weight_gradients(const Subject& subject, double tokens, Measurements& found) {
  struct Sum {
    ResidualSite site;
    double squares = 0, elements = 0;
  };
  std::map<std::pair<Stack, int>, Sum> sums;
  for (const PlannedParameter& each : subject.plan.parameters) {
    if (!answers_for_branch(each)) continue;
    const ResidualSite& site = *each.entry.facts.site;
    Sum& sum = sums[{site.stack, site.index}];
    sum.site = site;
    const torch::Tensor& gradient = each.entry.tensor.grad();
    if (!gradient.defined()) continue;
    sum.squares += gradient.to(torch::kFloat64).square().sum().item<double>();
    sum.elements += static_cast<double>(gradient.numel());
  }
  for (const auto& [place, sum] : sums) {
    found.add({Quantity::weight_gradient,
               {.point = Point::branch, .stack = sum.site.stack, .site = sum.site},
               std::sqrt(sum.squares / std::max(sum.elements, 1.0)) / tokens,
               std::nullopt});
  }
}

}  // namespace

double saturated_share(const Activation& activation, const torch::Tensor& x) {
  const auto slopes = [&](const torch::Tensor& at) {
    const torch::AutoGradMode gradients(true);
    const torch::Tensor leaf = at.detach().to(torch::kFloat64).clone().requires_grad_();
    apply(activation.function, leaf, activation.parameter).sum().backward();
    return leaf.grad().abs();
  };
  const torch::Tensor grid = torch::linspace(-6, 6, 1201, torch::kFloat64);
  const double largest = slopes(grid).max().item<double>();
  if (x.defined()) return (slopes(x) < 0.05 * largest).to(torch::kFloat64).mean().item<double>();
  const torch::Tensor density = (-grid.square() / 2).exp();
  const torch::Tensor flat = (slopes(grid) < 0.05 * largest).to(torch::kFloat64);
  return ((density * flat).sum() / density.sum()).item<double>();
}

void measure_signal(const Subject& subject, Measurements& found) {
  const Untouched untouched(subject.model);
  subject.model.train();
  Signal signal(subject, found);
  CrossEntropyInputs predictions;
  CrossEntropy sums;
  {
    const Watch watch(subject.model.context(),
                      [&](const Passing& passing, const torch::Tensor& value) {
                        return signal.see(passing, value);
                      });
    for (torch::Tensor& each : subject.model.parameters()) each.mutable_grad().reset();
    predictions = subject.model.predictions(subject.batch);
    sums = cross_entropy(predictions, subject.loss);
    sums.objective.backward();
  }
  const auto tokens = static_cast<double>(std::max<int64_t>(sums.tokens, 1));
  signal.add_gradients(tokens);
  measure_output(predictions, sums.nll.item<double>() / tokens, found);
  measure_weight_gradients(subject, tokens, found);
}

void measure_weights(const Plan& plan, Measurements& found) {
  const torch::NoGradGuard no_grad;
  std::map<std::pair<double, double>, const PlannedParameter*> known;
  for (const PlannedParameter& each : plan.parameters) {
    const torch::Tensor& tensor = each.entry.tensor;
    const Spot spot{.parameter = each.entry.name};
    const Moments size = moments(tensor);
    if (!std::isfinite(size.second)) {
      found.add({Quantity::not_finite, spot,
                 static_cast<double>((~tensor.isfinite()).sum().item<int64_t>()), 0});
      continue;
    }
    if (each.draw.is_constant()) continue;
    found.add({Quantity::weight_size, spot, std::sqrt(size.variance()) / each.draw.std, 1});
    const auto [place, is_new] = known.try_emplace({size.mean, size.second}, &each);
    if (!is_new && torch::equal(place->second->entry.tensor, tensor)) {
      found.add({Quantity::twins,
                 {.parameter = each.entry.name + " = " + place->second->entry.name},
                 1,
                 0});
    }
  }
}

}  // namespace ballast
