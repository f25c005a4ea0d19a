#pragma once

#include <optional>

#include "ballast/init/depth_inits.h"
#include "ballast/init/model_inits.h"
#include "ballast/init/shape_inits.h"

namespace ballast {

/// Every initialisation a recipe can name. A row lies in the header of its family, which ends with
/// the family's list; what it answers for is said in `init/rule.h`.
using InitChoice = Joined<ShapeInits, ModelInits, DepthInits>::Choice;

/// How a rule fills a tensor, by its facts; nothing for a vector that starts where its module says.
std::optional<Draw> draw_of(const InitChoice& choice, const ParameterFacts& facts);

}  // namespace ballast
