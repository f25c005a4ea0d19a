#pragma once

#include <memory>

#include "ballast/model/transformer.h"

namespace ballast {

/// The plain model with the same outputs in evaluation, up to rounding: same norms, but no
/// coefficient of a connection, no factor or shift at a point, no form of the weights, no
/// multiplier of a parameterisation; its options say so (`plain_options`). Values are those in
/// force at the step of the model's context, so a ramp is folded as far as it has come.
///
/// Let the plain model carry D_i x_i where this one carries x_i (`gauges`). A matrix that reads the
/// stream takes 1/D_i, what writes to it takes D_{i+1} or the branch's coefficient; tables,
/// positions and the norm before the output take what is left. For Admin this is W D^-1 at every
/// consumer and omega in the norm before (Liu et al. 2020, appendix C). Where the last norm cannot
/// take its part, or where the stacks ask for different tables, these are tied no more.
///
/// Computed in float64; the result has the type and device of the model. RecipeError where the
/// options cannot be folded (`refusal_to_fold`), or where a number that has to be divided by is 0.
std::shared_ptr<Transformer> fold(const Transformer& model);

}  // namespace ballast
