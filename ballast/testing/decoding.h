#pragma once

#include <memory>

#include "ballast/decode/hypothesis.h"
#include "ballast/testing/toy.h"

namespace ballast::testing {

/// A toy model with larger embeddings than at the start of a training, so that hypotheses differ.
std::shared_ptr<Transformer> sharp_toy_model();

/// Sum of log-probabilities of a hypothesis and its end piece, by one teacher-forced pass.
double forced_log_probability(const Transformer& model, const Packed& source,
                              const Hypothesis& hypothesis);

}  // namespace ballast::testing
