#pragma once

#include "ballast/diagnose/rehearsal.h"
#include "ballast/train/training_parts.h"

namespace ballast {

/// Which step of a schedule update `update` (from 1) of a rehearsal stands for: at most half of
/// `updates` climb a warm-up of `warmup` steps, however long; from its peak on step by step.
int64_t rehearsed_step(int64_t update, int64_t updates, int64_t warmup);

/// Makes the first updates of a training, its warm-up compressed; `warmup` is the step before the
/// largest rate. Batches, clipping and precision are the training's; a gradient that is not finite
/// ends it. The model is a trained one afterwards.
Rehearsal rehearse(const TrainingParts& parts, int64_t warmup, int64_t updates);

}  // namespace ballast
