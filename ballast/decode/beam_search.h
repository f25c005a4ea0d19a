#pragma once

#include <vector>

#include "ballast/decode/hypothesis.h"
#include "ballast/model/transformer.h"

namespace ballast {

/// Beam search over a batch of source sentences, with key-value cache; beam 1 is greedy search.
///
/// Each step takes the best 2 beam continuations of a sentence; those among the first `beam` that
/// end are finished, of which the best `beam` are kept. A sentence is done when it has that many
/// and no hypothesis in progress scores better than the worst of them, or at `longest_output`,
/// where the end piece is forced. Without `allow_empty` the end piece is no first token. Returns
/// per sentence 1 to `beam` hypotheses, best first (none where the model's logits are not numbers);
/// of equal continuations the one of the better hypothesis and smaller id is taken. The model
/// decides the device and, by its context, the precision (`options.precision` is for
/// `translate`); it should be in evaluation mode. No gradients.
std::vector<std::vector<Hypothesis>> beam_search(const Transformer& model, const Packed& sources,
                                                 const DecodeOptions& options,
                                                 const SpecialIds& special = {});

}  // namespace ballast
