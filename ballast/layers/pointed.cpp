#include "ballast/layers/pointed.h"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/base/error.h"

namespace ballast {
namespace {

/// Names under which norms are registered; saved models know them.
std::string norm_name(Point point) {
  switch (point) {
    case Point::read:
      return "norm_in";
    case Point::branch:
      return "norm_mid";
    case Point::stream:
      return "norm_out";
    case Point::stack:
      return "final_norm";
    default:
      return fmt::format("{}_norm", enum_name(point));
  }
}

std::vector<int64_t> shape_of(Extent extent, const RowShape& shape) {
  switch (extent) {
    case Extent::one:
      return {};
    case Extent::heads:
      return {shape.heads};
    case Extent::features:
      break;
  }
  return {shape.width};
}

}  // namespace

torch::Tensor start_of(const Coefficient& coefficient, const RowShape& shape) {
  const Grid& start = coefficient.start;
  if (start.is_number()) return torch::full(shape_of(coefficient.extent, shape), start.number());
  const torch::Tensor values = torch::tensor(start.values(), torch::kFloat32);
  return start.rows() == 1 ? values : values.view({start.rows(), start.columns()});
}

double ramp_at(const Coefficient& coefficient, int64_t step) {
  if (coefficient.ramp_steps == 0) return 1;
  return std::min(1.0, static_cast<double>(step) / coefficient.ramp_steps);
}

void Pointed::stand(const Standing& standing, Point point, const RowShape& shape) {
  Spot made{.point = point, .shape = shape};
  const auto own = std::ranges::find(standing.own_norms, point, &PointNorm::point);
  const bool has_own = own != standing.own_norms.end();
  if (has_own || standing.norms.has(point)) {
    made.norm = register_module(norm_name(point),
                                std::make_shared<Norm>(has_own ? own->form : standing.norm, shape));
  }
  for (const PointFactor& each : standing.factors) {
    if (each.point != point) continue;
    if (each.factor.profiled || !each.factor.start.is_number()) {
      throw RecipeError(
          fmt::format("the factor at point \"{}\" is {}; only a connection's coefficients can be",
                      enum_name(point), each.factor.profiled ? "profiled" : "a grid"));
    }
    if (each.factor.trained) {
      if (made.factor.defined()) {
        throw RecipeError(
            fmt::format("two trained factors stand at point \"{}\"", enum_name(point)));
      }
      made.factor_name = fmt::format("{}_factor", enum_name(point));
      made.factor = register_parameter(made.factor_name, start_of(each.factor, shape));
    }
    made.factors.push_back(each);
  }
  if (standing.shifts.has(point)) {
    made.shift_name = fmt::format("{}_shift", enum_name(point));
    made.shift = register_parameter(made.shift_name, torch::zeros({}));
  }
  if (!made.norm && made.factors.empty() && !made.shift.defined()) return;
  occupied_.insert(point);
  spots_.push_back(std::move(made));
}

torch::Tensor Pointed::at(Point point, const torch::Tensor& x, const Segments* sequences) const {
  if (is_bare(point)) return x;
  torch::Tensor y = x;
  if (const Spot* here = spot(point)) {
    if (here->norm) y = here->norm->forward(y, sequences);
    y = times_factors(*here, y);
    if (here->shift.defined()) y = y + here->shift;
  }
  return shown(point, y);
}

Columns Pointed::at(Point point, const Columns& x, const Segments* sequences) const {
  if (is_bare(point)) return x;
  return at(point, x.alone().contiguous(), sequences);
}

torch::Tensor Pointed::times_factors(const Spot& spot, const torch::Tensor& x) const {
  torch::Tensor y = x;
  for (const PointFactor& each : spot.factors) {
    double number = ramp_at(each.factor, context().step);
    if (each.factor.trained) {
      const bool by_heads = each.factor.extent == Extent::heads;
      y = y * (by_heads ? spot.factor.repeat_interleave(spot.shape.width / spot.shape.heads)
                        : spot.factor);
    } else {
      number *= each.factor.start.number();
    }
    if (number != 1) y = y * number;
  }
  return y;
}

bool Pointed::has_row_norm_at_most(Point point) const {
  const Spot* here = spot(point);
  return here == nullptr || (here->factors.empty() && !here->shift.defined() &&
                             (!here->norm || here->norm->is_one_division()));
}

std::optional<NormParameters> Pointed::row_norm(Point point) const {
  const Spot* here = spot(point);
  if (here == nullptr || !here->norm) return std::nullopt;
  return here->norm->kernel_parameters();
}

std::shared_ptr<Norm> Pointed::norm_at(Point point) const {
  const Spot* here = spot(point);
  return here == nullptr ? nullptr : here->norm;
}

ActingPoint Pointed::acting_at(Point point) const {
  const Spot* here = spot(point);
  if (here == nullptr) return {};
  ActingPoint acting{here->norm, {}, here->shift};
  if (!here->factors.empty()) acting.factor = times_factors(*here, torch::ones({}));
  return acting;
}

const Pointed::Spot* Pointed::spot(Point point) const {
  if (!occupied_.has(point)) return nullptr;
  return &*std::ranges::find(spots_, point, &Spot::point);
}

std::vector<ParameterSlot> Pointed::describe() {
  std::vector<ParameterSlot> slots;
  for (const Spot& each : spots_) {
    for (const PointFactor& factor : each.factors) {
      if (!factor.factor.trained) continue;
      slots.push_back({.name = each.factor_name,
                       .tensor = each.factor,
                       .facts = {.role = Role::point_factor,
                                 .fan_in = each.shape.width,
                                 .decay = factor.factor.decays},
                       .start = factor.factor.start});
    }
    if (each.shift.defined()) {
      slots.push_back({.name = each.shift_name,
                       .tensor = each.shift,
                       .facts = {.role = Role::point_shift, .fan_in = each.shape.width}});
    }
  }
  return slots;
}

}  // namespace ballast
