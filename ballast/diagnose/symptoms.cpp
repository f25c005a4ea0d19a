#include "ballast/diagnose/symptoms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

using Overrides = std::vector<std::string>;

Overrides lower_rate(const TrainingFacts& training) {
  return {fmt::format("optimizer.lr={:.2g}", training.peak_lr / 4)};
}

Overrides gentler(const TrainingFacts& training) {
  return {fmt::format("optimizer.lr={:.2g}", training.peak_lr / 4),
          fmt::format("schedule.warmup={}", std::max<int64_t>(4 * training.warmup, 100))};
}

Overrides clipped(const TrainingFacts& training) {
  const Overrides gentle = gentler(training);
  if (training.clip_norm > 0) return gentle;
  return {"train.clip_norm=1", gentle[0], gentle[1]};
}

const Extremes* extremes_at(const Sample& sample, const SymptomRow& row) {
  const auto is_asked = [&](const Extremes& each) {
    return each.gauge->quantity == row.quantity && each.gauge->point == row.point;
  };
  const auto found = std::ranges::find_if(sample.extremes, is_asked);
  return found == sample.extremes.end() ? nullptr : &*found;
}

bool has_left(double value, double first, const SymptomRow& row) {
  if (std::isinf(row.limit)) return !std::isfinite(value);
  if (!std::isfinite(value)) return false;
  return row.side == SymptomRow::Side::above ? value > row.limit && value > first * row.growth
                                             : value < row.limit && value < first / row.growth;
}

std::optional<Symptom> first_sight(const History& history, const SymptomRow& row) {
  std::optional<double> first;
  for (const Sample& sample : history) {
    const Extremes* seen = extremes_at(sample, row);
    if (seen == nullptr) continue;
    const bool above = row.side == SymptomRow::Side::above;
    const double value = above ? seen->largest : seen->smallest;
    if (!first) first = value;
    if (!has_left(value, *first, row)) continue;
    return Symptom{
        &row,
        sample.step,
        {above ? seen->where_largest : seen->where_smallest, std::string(row.what), value, *first}};
  }
  return std::nullopt;
}

}  // namespace

const std::vector<SymptomRow>& symptom_rows() {
  using Side = SymptomRow::Side;
  static const std::vector<SymptomRow> rows = {
      {"attention_logits_grow", Quantity::largest_logit, std::nullopt, Side::above, 50, 4,
       "largest logit of attention",
       "queries and keys grow without bound, so the softmax saturates",
       "Dehghani et al. 2023, section 2.2, arXiv:2302.05442",
       [](const TrainingFacts&) { return Overrides{"model.query_key_norm.kind=per_head"}; }},
      {"attention_collapses", Quantity::entropy, std::nullopt, Side::below, 0.1, 3,
       "entropy of attention, of the largest possible", "each query has come to see one key",
       "Zhai et al. 2023, arXiv:2303.06296",
       [](const TrainingFacts& training) {
         return Overrides{"model.query_key_norm.kind=per_head", lower_rate(training).front()};
       }},
      {"rows_become_alike", Quantity::row_likeness, Point::stack, Side::above, 0.95, 1.2,
       "mean cosine between rows of different tokens",
       "all tokens come to the same row, so that the output knows only frequencies",
       "Dong et al. 2021, arXiv:2103.03404",
       [](const TrainingFacts& training) {
         return Overrides{lower_rate(training).front(), "model.residual.kind=admin"};
       }},
      {"stream_grows", Quantity::second_moment, Point::stream, Side::above, 100, 30,
       "second moment of the stream", "branches add up without bound",
       "Sun et al. 2025, arXiv:2502.05795", gentler},
      {"gradients_explode", Quantity::gradient, Point::stream, Side::above, 0.1, 30,
       "gradient at the stream, loss per token",
       "an update that was too large has brought the model where the loss is steep",
       "Pascanu et al. 2013, arXiv:1211.5063", clipped},
      {"gradients_vanish", Quantity::weight_gradient, std::nullopt, Side::below, 1e-7, 1000,
       "root mean square of the gradient of a connection's matrices",
       "a connection hears nothing of the loss any more", "Liu et al. 2020, arXiv:2004.08249",
       lower_rate},
      {"units_die", Quantity::idle_units, std::nullopt, Side::above, 0.9, 1.5,
       "share of hidden units that are 0 for every token",
       "an update that was too large has pushed units below 0 for good",
       "Lu et al. 2019, arXiv:1903.06733", lower_rate},
      {"output_logits_grow", Quantity::row_deviation, std::nullopt, Side::above, 20, 5,
       "deviation of the output logits of a token", "the output drifts away from normalised",
       "Chowdhery et al. 2022, section 5, arXiv:2204.02311",
       [](const TrainingFacts&) { return Overrides{"train.z_loss=1e-4"}; }},
      {"not_finite", Quantity::second_moment, Point::stream, Side::above, INFINITY, 1,
       "second moment of the stream", "a number is beyond what its format holds", "", gentler},
  };
  return rows;
}

std::vector<Symptom> symptoms(const History& history) {
  std::vector<Symptom> found;
  for (const SymptomRow& row : symptom_rows()) {
    if (const std::optional<Symptom> seen = first_sight(history, row)) found.push_back(*seen);
  }
  std::ranges::stable_sort(found, {}, &Symptom::step);
  return found;
}

std::string post_mortem(const History& history, const TrainingFacts& training) {
  const std::vector<Symptom> chain = symptoms(history);
  if (chain.empty()) {
    return fmt::format(
        "post-mortem: no instrument left its range in {} samples; the rate alone may be too large\n"
        "  try       --set {}\n",
        history.size(), fmt::join(gentler(training), ", or --set "));
  }
  std::string text = "post-mortem: what left its range, in the order of steps\n";
  for (const Symptom& each : chain) {
    text += fmt::format("  step {:<6} {} at {}: {:.4g}, at first {:.4g} ({})\n", each.step,
                        each.row->name, each.evidence.where, each.evidence.measured,
                        each.evidence.expected, each.row->what);
  }
  const SymptomRow& first = *chain.front().row;
  text += fmt::format("  reason    {}{}\n", first.reason,
                      first.source.empty() ? "" : fmt::format(" ({})", first.source));
  return text +
         fmt::format("  try       --set {}\n", fmt::join(first.remedy(training), ", or --set "));
}

}  // namespace ballast
