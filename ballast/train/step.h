#pragma once

#include "ballast/train/checkpoint.h"
#include "ballast/train/step_report.h"
#include "ballast/train/training_parts.h"

namespace ballast {

/// Gradients of the summed loss over all batches of one update, left in the parameters, of a model
/// that has made `position` updates (which ramps and dropout go by); what is reported is per token.
StepReport accumulate_gradients(const TrainingParts& parts, TrainingState& state, int64_t position);

}  // namespace ballast
