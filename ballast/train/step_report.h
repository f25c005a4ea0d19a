#pragma once

#include <cstdint>

namespace ballast {

/// One training step. Means are per target token, losses in nats.
struct StepReport {
  double loss = 0, nll = 0, gradient_norm = 0;
  double lr = 0;
  int64_t tokens = 0;   ///< of the target
  int64_t epoch = 0;    ///< the pass over the corpus that gives the next batch
  bool applied = true;  ///< false: a number was not finite, so the step left the model alone
};

}  // namespace ballast
