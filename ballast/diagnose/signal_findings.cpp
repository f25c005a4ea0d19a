#include <algorithm>
#include <cmath>

#include "ballast/diagnose/finding_rows.h"

namespace ballast {
namespace {

using Overrides = std::vector<std::string>;

/// The last connection of a stack, and what surrounds it.
ResidualForm last_form(const ModelOptions& model, Stack stack) {
  return form_at(model, sites_of(model, stack, model.layers(stack) - 1).back());
}

bool ends_normalised(const ModelOptions& model, Stack stack) {
  return stack_form(model, stack).norms.has(Point::stack) ||
         last_form(model, stack).norms.has(Point::stream);
}

std::optional<Evidence> find_missing_norm(const Examination& seen) {
  for (const Measurement* each : seen.measurements.of(Quantity::second_moment, Point::stack)) {
    const bool is_moderate = each->value > 0.1 && each->value < 10;
    if (is_moderate || ends_normalised(seen.model, *each->spot.stack)) continue;
    return evidence_of(*each, "second moment of what leaves the stack", 1);
  }
  return std::nullopt;
}

std::optional<Evidence> find_large_logits(const Examination& seen) {
  const Measurement* deviation = seen.measurements.largest(Quantity::row_deviation);
  // ln V + s^2 / 2: at 3 the loss starts 4.5 nats above that of a guess.
  if (deviation == nullptr || !(deviation->value > 3)) return std::nullopt;
  return evidence_of(*deviation, "deviation of the logits over the vocabulary", 1);
}

std::optional<Evidence> find_drowned_tokens(const Examination& seen) {
  for (const Measurement* token : seen.measurements.of(Quantity::second_moment, Point::token)) {
    for (const Measurement* all : seen.measurements.of(Quantity::second_moment, Point::embedding)) {
      const bool is_normalised =
          stack_form(seen.model, *all->spot.stack).norms.has(Point::embedding);
      if (token->spot.stack != all->spot.stack || is_normalised) continue;
      if (token->value > 0.05 * all->value) continue;
      return evidence_of(*token, "second moment of a token's row, beside its position's",
                         all->value);
    }
  }
  return std::nullopt;
}

/// Sum of the shares that branches have of normalised sums: by theorem 2 of Liu et al. 2020 what a
/// change of all weights does to the output is in proportion.
struct Amplification {
  double sum = 0;
  const Measurement* last = nullptr;
};

Amplification amplification(const Examination& seen, Stack stack) {
  Amplification found;
  for (const Measurement* each : seen.measurements.of(Quantity::own_share)) {
    if (each->spot.stack != stack ||
        !form_at(seen.model, *each->spot.site).norms.has(Point::stream))
      continue;
    found.sum += each->value;
    found.last = each;
  }
  return found;
}

std::optional<Evidence> find_amplification(const Examination& seen, double limit) {
  for (const auto& [name, stack] : EnumNames<Stack>::value) {
    const Amplification found = amplification(seen, stack);
    if (found.last == nullptr || found.sum <= limit) continue;
    const auto depth = static_cast<double>(found.last->spot.site->count);
    double harmonic = 0;  // Pre-Norm's and Admin's: sum of 1 / i
    for (double i = 1; i <= depth; ++i) harmonic += 1 / (i + 1);
    return Evidence{std::string(name), "sum of the branches' shares of the stream", found.sum,
                    harmonic};
  }
  return std::nullopt;
}

/// Gradients that are 0 throughout are another thing: a branch that starts at 0 lets none pass.
std::optional<Evidence> find_vanishing(const Examination& seen) {
  const Measurement* most = seen.measurements.largest(Quantity::gradient, Point::stream);
  const Measurement* least = nullptr;
  for (const Measurement* each : seen.measurements.of(Quantity::gradient, Point::stream)) {
    if (each->value > 0 && (least == nullptr || each->value < least->value)) least = each;
  }
  if (least == nullptr || !(least->value < 1e-3 * most->value)) return std::nullopt;
  return evidence_of(*least, "gradient at the stream, the largest being at " + most->spot.name(),
                     most->value);
}

std::optional<Evidence> find_alike_rows(const Examination& seen) {
  const Measurement* worst = seen.measurements.largest(Quantity::row_likeness, Point::stack);
  if (worst == nullptr || !(worst->value > 0.95)) return std::nullopt;
  return evidence_of(*worst, "mean cosine between rows of different tokens", 0.3);
}

std::optional<Evidence> find_idle(const Examination& seen) {
  const Measurement* worst = seen.measurements.largest(Quantity::idle_units);
  if (worst == nullptr || !(worst->value > 0.5)) return std::nullopt;
  return evidence_of(*worst, "share of units that are 0 for every token", 0);
}

std::optional<Evidence> find_flat(const Examination& seen) {
  for (const Measurement* each : seen.measurements.of(Quantity::saturated_units)) {
    if (each->value < *each->expected + 0.5 * (1 - *each->expected)) continue;
    return evidence_of(*each, "share of pre-activations on a flat part", *each->expected);
  }
  return std::nullopt;
}

std::optional<Evidence> find_half_range(const Examination& seen) {
  const Measurement* worst = seen.measurements.largest(Quantity::largest);
  if (worst == nullptr || !(worst->value > 6e4)) return std::nullopt;
  return evidence_of(*worst, "largest magnitude; float16 ends at 65504", 6e4);
}

Overrides admin(const Examination&) { return {"model.residual.kind=admin"}; }
Overrides pre_norm(const Examination&) { return {"model.residual.kind=pre_norm"}; }
Overrides fairseq(const Examination&) { return {"init.kind=fairseq"}; }

}  // namespace

std::vector<FindingRow> signal_findings() {
  return {
      {"activations_out_of_range", Severity::warning,
       "activations are near the end of float16's range", "METHODS 6.15", find_half_range, fairseq},
      {"no_final_norm",
       Severity::warning,
       "the stream grows with depth, and nothing brings it back before the output projection",
       "Xiong et al. 2020, arXiv:2002.04745",
       find_missing_norm,
       pre_norm,
       {"logits_too_large"}},
      {"logits_too_large", Severity::error,
       "the first predictions are confident and wrong, as where a table of deviation 1 is tied to "
       "the output",
       "Press and Wolf 2017, arXiv:1608.05859; METHODS 2.1", find_large_logits, fairseq},
      {"tokens_drowned", Severity::warning,
       "a token's row is small beside its position's: the model starts without seeing the text",
       "Vaswani et al. 2017, section 3.4, arXiv:1706.03762", find_drowned_tokens, fairseq},
      {"deep_post_norm",
       Severity::error,
       "what a small update does to the output grows with the depth, so the first large updates "
       "throw the model off",
       "Liu et al. 2020, theorem 2, arXiv:2004.08249",
       [](const Examination& seen) { return find_amplification(seen, 10); },
       admin,
       {"post_norm_amplifies", "gradients_vanish"}},
      {"post_norm_amplifies", Severity::warning,
       "what a small update does to the output grows with the depth; such a model needs a warm-up "
       "and a moderate rate",
       "Liu et al. 2020, theorem 2, arXiv:2004.08249",
       [](const Examination& seen) { return find_amplification(seen, 5); }, admin},
      {"gradients_vanish", Severity::warning,
       "the loss hardly reaches some connections, whose weights then move by noise under Adam",
       "Liu et al. 2020, section 3.2, arXiv:2004.08249", find_vanishing, admin},
      {"rows_alike", Severity::warning,
       "all tokens have come to the same row: attention has averaged their differences away",
       "Dong et al. 2021, arXiv:2103.03404", find_alike_rows, pre_norm},
      {"dead_units", Severity::warning,
       "units that are 0 for every token get no gradient and stay so", "METHODS 6.11", find_idle,
       fairseq},
      {"saturated_units", Severity::warning,
       "pre-activations lie where the function is flat, and pass no gradient", "METHODS 6.11",
       find_flat, fairseq},
  };
}

}  // namespace ballast
