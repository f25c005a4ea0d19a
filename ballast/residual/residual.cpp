#include "ballast/residual/residual.h"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/base/error.h"
#include "ballast/residual/lanes.h"

namespace ballast {
namespace {

torch::Tensor scaled(const torch::Tensor& x, const Factor& factor) {
  if (factor.trained.defined()) return x * factor.trained;
  return factor.constant == 1 ? x : x * factor.constant;
}

}  // namespace

Standing standing_of(const ResidualForm& form, const NormChoice& norm) {
  Standing made{form.norms, form.factors, form.shifts, form_of(norm)};
  for (const auto& [name, point] : EnumNames<Point>::value) {
    if (form.head_norms.has(point)) made.own_norms.push_back({point, of_each_head(made.norm)});
  }
  return made;
}

Residual::Residual(const ResidualOptions& options, const Residual* first_of_layer)
    : options_(options) {
  ResidualForm& form = options_.form;
  if (options.lanes > 1) {
    form.shortcut.start = spread(form.shortcut.start, options.lanes, Spread::diagonal);
    form.branch.start = spread(form.branch.start, options.lanes, Spread::every_lane);
    form.read.start = spread(form.read.start, options.lanes, Spread::first_lane);
  }
  if (const std::string refusal = refusal_of(form, options.lanes); !refusal.empty()) {
    throw RecipeError("a residual form that cannot be executed: " + refusal);
  }
  const Standing standing = standing_of(form, options.norm);
  for (const Point point : {Point::lane, Point::read, Point::branch, Point::stream}) {
    stand(standing, point, {options.site.d_model});
  }
  const auto of_layer = [&](torch::Tensor Residual::*member) {
    return first_of_layer == nullptr ? torch::Tensor() : first_of_layer->*member;
  };
  shortcut = store("shortcut", form.shortcut, of_layer(&Residual::shortcut));
  branch = store("branch", form.branch, of_layer(&Residual::branch));
  input = store("input", form.input, of_layer(&Residual::input));
  read = store("read", form.read, of_layer(&Residual::read));
  const int64_t d = options.site.d_model;
  shortcut_gate_ = store_gate(*this, "shortcut", form.shortcut, options.lanes, d);
  branch_gate_ = store_gate(*this, "branch", form.branch, options.lanes, d);
  read_gate_ = store_gate(*this, "read", form.read, options.lanes, d);
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
}

// The only lines that know what one kernel does at once: the join applies dropout and the norms of
// `branch` and `stream`, unless more stands there or somebody wants to see what leaves `branch`.
torch::Tensor Residual::forward(const torch::Tensor& x, const BranchFunction& function,
                                const Segments* sequences) const {
  const ResidualForm& form = options_.form;
  const torch::Tensor seen = shown(Point::lane, x);
  const torch::Tensor entering = scaled(seen, factor(form.read, read, 1));
  torch::Tensor f =
      function(scaled(at(Point::read, entering, sequences), factor(form.input, input, 1)));
  DropMask mask = dropout_->mask();
  const bool branch_at_once = has_row_norm_at_most(Point::branch) && !is_watched();
  if (!branch_at_once) {
    f = at(Point::branch, dropout(f, mask), sequences);
    mask = {};
  }
  const bool stream_at_once = has_row_norm_at_most(Point::stream);
  const torch::Tensor joined =
      residual_norm({.shortcut = seen,
                     .branch = f,
                     .shortcut_factor = factor(form.shortcut, shortcut, shortcut_multiplier_),
                     .branch_factor = factor(form.branch, branch, branch_multiplier_),
                     .dropout = mask,
                     .norm_mid = branch_at_once ? row_norm(Point::branch) : std::nullopt,
                     .norm_out = stream_at_once ? row_norm(Point::stream) : std::nullopt});
  return stream_at_once ? shown(Point::stream, joined) : at(Point::stream, joined, sequences);
}

ResidualStream Residual::forward(const ResidualStream& stream, const BranchFunction& function,
                                 const Segments* sequences) const {
  if (options_.lanes == 1) return {{forward(stream.lanes.front(), function, sequences)}};
  std::vector<torch::Tensor> lanes = stream.lanes;
  for (size_t i = 0; i < lanes.size(); ++i) {
    lanes[i] = shown(Point::lane, lanes[i], static_cast<int>(i));
  }
  const torch::Tensor h = at(Point::read, read_lanes(lanes, sequences), sequences);
  const torch::Tensor f = function(scaled(h, factor(options_.form.input, input, 1)));
  const torch::Tensor left = at(Point::branch, dropout(f, dropout_->mask()), sequences);
  return {joined_lanes(lanes, left, sequences)};
}

torch::Tensor Residual::read_lanes(const std::vector<torch::Tensor>& lanes,
                                   const Segments* sequences) const {
  std::vector<torch::Tensor> normed = lanes;
  if (const auto norm = norm_at(Point::lane)) {
    for (size_t i = 1; i < lanes.size(); ++i) normed[i] = norm->forward(lanes[i], sequences);
  }
  std::vector<torch::Tensor> sums = weighed(options_.form.read, read, read_gate_, 1, normed, lanes);
  for (torch::Tensor& sum : sums) {
    if (!sum.defined()) sum = torch::zeros_like(lanes.front());
  }
  return sums.size() == 1 ? sums.front() : torch::cat(sums, 1);
}

std::vector<torch::Tensor> Residual::joined_lanes(const std::vector<torch::Tensor>& lanes,
                                                  const torch::Tensor& f,
                                                  const Segments* sequences) const {
  std::vector<torch::Tensor> next =
      weighed(options_.form.shortcut, shortcut, shortcut_gate_, shortcut_multiplier_, lanes, lanes);
  const Coefficient& b = options_.form.branch;
  const torch::Tensor by_row =
      b.gate ? gated_by_row(b, branch, branch_gate_, branch_multiplier_, lanes) : torch::Tensor();
  const bool parts = options_.form.reads_parts();
  const int64_t width = lanes.front().size(1);
  for (int64_t i = 0; i < options_.lanes; ++i) {
    const torch::Tensor given = parts ? f.narrow(1, i * width, width) : f;
    torch::Tensor& lane = next[i];
    if (!lane.defined()) lane = torch::zeros_like(given);
    if (by_row.defined()) {
      lane = lane + given * by_row.select(2, i);
      continue;
    }
    const Factor factor = acting(b, b.start.at(0, static_cast<int>(i)),
                                 branch.defined() ? branch[i] : branch, branch_multiplier_);
    if (factor.trained.defined() || factor.constant != 0) lane = lane + scaled(given, factor);
  }
  next.front() = at(Point::stream, next.front(), sequences);
  return next;
}

/// The lanes mixed by a coefficient between them.
std::vector<torch::Tensor> Residual::weighed(const Coefficient& coefficient,
                                             const torch::Tensor& stored, const StoredGate& gate,
                                             double multiplier,
                                             const std::vector<torch::Tensor>& lanes,
                                             const std::vector<torch::Tensor>& seen) const {
  if (coefficient.gate) {
    return mixed_by_row(gated_by_row(coefficient, stored, gate, multiplier, seen), lanes);
  }
  std::vector<torch::Tensor> sums =
      stored.defined() ? mixed(stored, lanes) : mixed(coefficient.start, lanes);
  const double number = ramp_at(coefficient, context().step) * multiplier;
  for (torch::Tensor& sum : sums) {
    if (number != 1 && sum.defined()) sum = sum * number;
  }
  return sums;
}

/// [N, rows, n], of a stream as its gate sees it.
torch::Tensor Residual::gated_by_row(const Coefficient& coefficient, const torch::Tensor& stored,
                                     const StoredGate& gate, double multiplier,
                                     const std::vector<torch::Tensor>& seen) const {
  const torch::Tensor start =
      stored.defined() ? stored : start_of(coefficient, {}).to(seen.front().options());
  const torch::Tensor weights =
      gated(*coefficient.gate, {gate.weight, gate.scale, start}, seen, coefficient.start.rows());
  const double number = ramp_at(coefficient, context().step) * multiplier;
  return number == 1 ? weights : weights * number;
}

void Residual::set_profiled_shortcut(double omega) const {
  const torch::NoGradGuard no_grad;
  shortcut.fill_(omega);
}

Residual::Coefficients Residual::acting_coefficients() const {
  const ResidualForm& form = options_.form;
  const auto value = [](const Factor& factor) {
    if (factor.trained.defined()) return factor.trained;
    return torch::full({}, factor.constant, torch::kDouble);
  };
  return {value(factor(form.shortcut, shortcut, shortcut_multiplier_)),
          value(factor(form.branch, branch, branch_multiplier_)),
          value(factor(form.input, input, 1))};
}

double Residual::acting_shortcut() const {
  const torch::NoGradGuard no_grad;
  const torch::Tensor stored =
      shortcut.defined() && options_.lanes > 1 ? shortcut.view(-1)[0] : shortcut;
  const Coefficient& declared = options_.form.shortcut;
  const Factor now = acting(declared, declared.start.at(0, 0), stored, shortcut_multiplier_);
  return now.trained.defined() ? now.trained.mean().item<double>() : now.constant;
}

Factor Residual::factor(const Coefficient& coefficient, const torch::Tensor& stored,
                        double multiplier) const {
  return acting(coefficient, coefficient.start.number(), stored, multiplier);
}

Factor Residual::acting(const Coefficient& coefficient, double start, const torch::Tensor& stored,
                        double multiplier) const {
  const double number = ramp_at(coefficient, context().step) * multiplier;
  if (!stored.defined()) return {.constant = start * number};
  return {.trained = number == 1 ? stored : stored * number};
}

torch::Tensor Residual::store(const std::string& name, const Coefficient& coefficient,
                              const torch::Tensor& of_layer) {
  if (!coefficient.trained && !coefficient.profiled) return {};
  const bool shared = coefficient.owner == Owner::layer && of_layer.defined();
  const torch::Tensor start = shared ? of_layer : start_of(coefficient, {options_.site.d_model});
  return coefficient.trained ? register_parameter(name, start) : register_buffer(name, start);
}

std::vector<ParameterSlot> Residual::describe() {
  std::vector<ParameterSlot> slots;
  const auto add = [&](std::string_view name, const torch::Tensor& tensor, Role role,
                       const Coefficient& coefficient) {
    if (!coefficient.trained) return;
    slots.push_back(
        {.name = name,
         .tensor = tensor,
         .facts = {.role = role, .fan_in = options_.site.d_model, .decay = coefficient.decays},
         .start = coefficient.start});
  };
  add("shortcut", shortcut, Role::shortcut_coefficient, options_.form.shortcut);
  add("branch", branch, Role::branch_coefficient, options_.form.branch);
  add("input", input, Role::branch_coefficient, options_.form.input);
  add("read", read, Role::point_factor, options_.form.read);
  const auto add_gate = [&](const StoredGate& gate, const Coefficient& coefficient) {
    for (ParameterSlot& slot : slots_of(gate, coefficient)) slots.push_back(std::move(slot));
  };
  add_gate(shortcut_gate_, options_.form.shortcut);
  add_gate(branch_gate_, options_.form.branch);
  add_gate(read_gate_, options_.form.read);
  for (ParameterSlot& slot : Pointed::describe()) slots.push_back(std::move(slot));
  return slots;
}

std::vector<FactorSlot> Residual::factors() {
  const int64_t d = options_.site.d_model;
  return {{{Point::lane, d}, &shortcut_multiplier_}, {{Point::branch, d}, &branch_multiplier_}};
}

std::vector<const torch::nn::Module*> Residual::surrounded() const {
  std::vector<const torch::nn::Module*> modules{this};
  if (options_.around) modules.push_back(options_.around.get());
  return modules;
}

void Residual::complete(ParameterFacts& facts) const {
  facts.site = options_.site;
  facts.gain *= options_.form.gains.of(facts.role);
  facts.shortcut = options_.form.shortcut.start.number();
  facts.branch = options_.form.branch.start.number();
}

void Residual::complete(FactorFacts& facts) const { facts.site = options_.site; }

}  // namespace ballast
