#pragma once

#include <memory>

#include "ballast/decode/hypothesis.h"
#include "ballast/testing/toy.h"

namespace ballast::testing {

/// The Pre-Norm toy model with embeddings three times as large as at the start of a training, so
/// that hypotheses differ.
std::shared_ptr<Transformer> sharp_toy_model();

/// Sum of log-probabilities (natural) of a hypothesis and its end piece, by one teacher-forced
/// pass: what a search that decodes token by token has to agree with.
double forced_log_probability(const Transformer& model, const Packed& source,
                              const Hypothesis& hypothesis);

}  // namespace ballast::testing
