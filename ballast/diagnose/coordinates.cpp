#include "ballast/diagnose/coordinates.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "ballast/base/error.h"
#include "ballast/model/evaluation_mode.h"
#include "ballast/optim/clip.h"

namespace ballast {
namespace {

using Block = CoordinatePlace::Block;

constexpr Points looked_at{Point::query,  Point::heads,  Point::hidden,
                           Point::branch, Point::stream, Point::stack};

/// Which modules are at the ends of which stack.
class Ends {
 public:
  explicit Ends(const Transformer& model) {
    add(model.encoder.get(), Stack::encoder);
    add(model.decoder.get(), Stack::decoder);
  }

  /// What a tensor on its way is called; empty where nobody looks.
  std::vector<CoordinatePlace> places(const Passing& passing) const {
    std::vector<CoordinatePlace> found;
    if (!looked_at.has(passing.point)) return found;
    const auto [begin, end] = places_.equal_range(&passing.module);
    for (auto each = begin; each != end; ++each) {
      found.push_back(each->second);
      found.back().point = passing.point;
    }
    return found;
  }

 private:
  void add(const BlockStack* stack, Stack name) {
    if (stack == nullptr) return;
    places_.emplace(stack, CoordinatePlace{.stack = name});
    for (const Block block : {Block::first, Block::last}) {
      const auto& at = block == Block::first ? stack->blocks.front() : stack->blocks.back();
      for (const auto& [branch, residual] : at->connections) {
        const CoordinatePlace place{
            .stack = name, .sublayer = residual->site().kind, .block = block};
        places_.emplace(residual.get(), place);
        places_.emplace(dynamic_cast<const Bound*>(branch.get()), place);
      }
    }
  }

  std::multimap<const Bound*, CoordinatePlace> places_;
};

struct Seen {
  CoordinatePlace place;
  torch::Tensor value;
};

std::vector<Seen> seen_on(Transformer& model, const Batch& probe) {
  const EvaluationMode evaluating(model);
  const Ends ends(model);
  std::vector<Seen> all;
  const Watch watch(model.context(), [&](const Passing& passing, const torch::Tensor& value) {
    for (const CoordinatePlace& place : ends.places(passing)) all.push_back({place, value});
    return value;
  });
  const torch::Tensor hidden = model.forward(probe.source, probe.target_input);
  all.push_back({{.point = Point::logits}, model.logits(hidden)});
  return all;
}

double root_mean_square(const torch::Tensor& x) {
  return std::sqrt(x.to(torch::kFloat64).square().mean().item<double>());
}

void measure(Transformer& model, const Batch& probe, std::vector<Seen>& at_first,
             Coordinates& found) {
  std::vector<Seen> now = seen_on(model, probe);
  if (at_first.empty()) {
    at_first = now;
    for (const Seen& each : now) found.push_back({.place = each.place});
  }
  for (size_t i = 0; i < now.size(); ++i) {
    found[i].size.push_back(root_mean_square(now[i].value));
    found[i].change.push_back(root_mean_square(now[i].value - at_first[i].value));
  }
}

void update(const FirstUpdates& updates, Optimizer& optimizer) {
  Transformer& model = *updates.model;
  model.train();
  model.context().step = optimizer.steps();
  const Batch batch = updates.next();
  const CrossEntropy sums = cross_entropy(model.predictions(batch), updates.loss);
  sums.objective.backward();
  const double count = static_cast<double>(std::max<int64_t>(sums.tokens, 1));
  const double norm = gradient_norm(optimizer.parameters()) / count;
  const auto scale = clip_scale(norm, updates.clip_norm);
  if (!scale) {
    const std::string tensor = first_non_finite_gradient(optimizer.parameters());
    const int64_t step = optimizer.steps() + 1;
    throw DivergenceError(
        fmt::format("update {} of the coordinate check at width {} has a gradient in {} that is "
                    "not finite; try a smaller learning rate",
                    step, model.options().d_model, tensor),
        {step, sums.loss.item<double>() / count, norm, tensor});
  }
  optimizer.step(updates.lr, *scale / count);
  optimizer.clear_gradients();
}

/// Slope of the logarithm of y over that of x.
double power(std::span<const double> x, std::span<const double> y) {
  double mean_x = 0, mean_y = 0, of_x = 0, of_both = 0;
  const auto count = static_cast<double>(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(y[i] > 0)) return std::numeric_limits<double>::quiet_NaN();
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double away = std::log(x[i]) - mean_x;
    of_x += away * away;
    of_both += away * (std::log(y[i]) - mean_y);
  }
  return of_both / of_x;
}

std::vector<double> powers(std::span<const double> scales, std::span<const Coordinates> models,
                           size_t place, std::vector<double> Coordinate::*member) {
  std::vector<double> by_step;
  for (size_t step = 0; step < (models.front()[place].*member).size(); ++step) {
    std::vector<double> sizes;
    for (const Coordinates& each : models) sizes.push_back((each[place].*member)[step]);
    by_step.push_back(power(scales, sizes));
  }
  return by_step;
}

}  // namespace

std::string CoordinatePlace::name() const {
  if (point == Point::logits) return std::string(enum_name(point));
  if (!sublayer) return fmt::format("{}.{}", enum_name(stack), enum_name(point));
  return fmt::format("{}.{}.{}.{}", enum_name(stack), block == Block::first ? "first" : "last",
                     enum_name(*sublayer), enum_name(point));
}

Coordinates first_coordinates(const FirstUpdates& updates) {
  Optimizer optimizer(updates.optimizer, optimized(updates.plan));
  Coordinates found;
  std::vector<Seen> at_first;
  measure(*updates.model, updates.probe, at_first, found);
  for (int64_t step = 0; step < updates.steps; ++step) {
    update(updates, optimizer);
    updates.model->context().step = optimizer.steps();
    measure(*updates.model, updates.probe, at_first, found);
  }
  return found;
}

std::vector<CoordinateSlope> coordinate_slopes(std::span<const double> scales,
                                               std::span<const Coordinates> models) {
  std::vector<CoordinateSlope> slopes;
  for (size_t place = 0; place < models.front().size(); ++place) {
    slopes.push_back({models.front()[place].place, powers(scales, models, place, &Coordinate::size),
                      powers(scales, models, place, &Coordinate::change)});
  }
  return slopes;
}

Trend trend_of(double slope, double tolerance) {
  if (std::isnan(slope)) return Trend::still;
  if (std::abs(slope) <= tolerance) return Trend::flat;
  return slope > 0 ? Trend::grows : Trend::vanishes;
}

}  // namespace ballast
