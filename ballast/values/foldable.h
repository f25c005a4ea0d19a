#pragma once

#include <string>

#include "ballast/model/options.h"
#include "ballast/values/gauge.h"

namespace ballast {

/// Why a model of these options cannot become a plain one with the same outputs; empty where it
/// can. It follows from the forms alone, so it needs no model: a scale that would have to pass a
/// norm feature by feature, coefficients that follow the stream, several lanes.
std::string refusal_to_fold(const ModelOptions& options);

/// The options of the plain model: of every connection the norms that stay, and no coefficient,
/// factor, shift, ramp or form of the weights. Norms with running statistics are fixed factors in
/// evaluation and go too. Throws RecipeError with `refusal_to_fold`.
ModelOptions plain_options(const ModelOptions& options);

/// Whether a norm is a fixed factor and shift of each feature in evaluation.
constexpr bool is_fixed(const NormForm& form) { return form.running_share > 0; }

/// How many numbers a coefficient has when the model is in use; a ramp counts as one.
Reach reach_of(const Coefficient& coefficient);

/// A rule for this connection alone.
SiteRule rule_for(const ResidualSite& site);

}  // namespace ballast
