#pragma once

#include <variant>

#include "ballast/residual/coefficient_schemes.h"
#include "ballast/residual/form.h"
#include "ballast/residual/hyper_schemes.h"
#include "ballast/residual/inner_norm_schemes.h"
#include "ballast/residual/lane_schemes.h"
#include "ballast/residual/norm_place_schemes.h"

namespace ballast {

// Table one. A row is a name, a formula, a source, its options and
//
//     ResidualForm form(const ResidualSite&) const;   how a connection is made at its place
//     StackForm stack() const;                        what surrounds them; absent: nothing
//
// Nothing outside a row asks for its name. A row lies in the header of its family, which ends with
// the family's list.

/// Every scheme a recipe can name.
using ResidualChoice = Joined<NormPlaceSchemes, CoefficientSchemes, InnerNormSchemes, LaneSchemes,
                              HyperSchemes>::Choice;

/// How the scheme makes the connection at `site`, and what it asks of the branch's weights. Depends
/// on nothing else, so it may be called at any time.
ResidualForm form_of(const ResidualChoice& choice, const ResidualSite& site);

/// What the scheme puts around the connections of a stack; one lane and no norm where it says
/// nothing.
StackForm stack_of(const ResidualChoice& choice);

}  // namespace ballast
