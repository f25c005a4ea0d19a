#pragma once

#include <optional>
#include <span>
#include <string>

#include "ballast/optim/optimizer.h"

namespace ballast {

/// L2 norm over the gradients of all parameters, summed in float64: it does not overflow for finite
/// float32 gradients, and does not depend on the number of threads. inf or nan when a gradient is
/// not finite. A parameter without a gradient adds nothing.
double gradient_norm(std::span<const OptimizedParameter> parameters);

/// Name of the first parameter whose gradient is not finite everywhere; empty when all are.
std::string first_non_finite_gradient(std::span<const OptimizedParameter> parameters);

/// The factor min(1, max_norm / (norm + 1e-6)) for `Optimizer::step`; 1 when `max_norm` is 0, which
/// turns clipping off (Pascanu et al. 2013, arXiv:1211.5063; the 1e-6 is PyTorch's). Nothing for a
/// norm that is not finite: no factor heals such a gradient, so the step has to be skipped.
std::optional<double> clip_scale(double norm, double max_norm);

}  // namespace ballast
