#pragma once

#include <vector>

#include "ballast/diagnose/gauges.h"

namespace ballast {

/// The first updates of a training, as a rehearsal made them: its warm-up in fewer steps.
struct Rehearsal {
  std::vector<double> losses;     ///< of each update, nats per token, before it, without smoothing
  std::vector<double> gradients;  ///< norm of each update's, per token
  double clip_norm = 0;           ///< to which they were clipped; 0: not at all
  History history = {};           ///< before the first update, and after 1, 2, 4, ... and the last
};

/// What losses came to, of averages over a tenth of them, before one that is not finite.
struct RehearsedLoss {
  double first = 0;   ///< before any update
  double lowest = 0;  ///< average
  double last = 0;    ///< average; NaN where a loss is not finite
};
RehearsedLoss rehearsed_loss(const Rehearsal& rehearsal);

/// Whether a loss left the region from which it returns: not finite, or at the end more than `rise`
/// above its lowest average.
bool diverged(const Rehearsal& rehearsal, double rise = 0.5);

}  // namespace ballast
