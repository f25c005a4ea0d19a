#pragma once

#include <span>
#include <vector>

#include "ballast/decode/hypothesis.h"
#include "ballast/model/transformer.h"

namespace ballast {

/// What to search outputs for, and with what.
struct SearchInputs {
  std::span<const Transformer* const> models;  ///< an `Ensemble` where there are several
  const Packed& sources;
  /// Of each sentence, for its random numbers (`RandomSampling`); empty: 0, 1, ...
  std::span<const int64_t> numbers = {};
};

/// Outputs for a batch of source sentences, with key-value cache, by `options.search`; a beam of 1
/// is greedy search. Returns per sentence at most `options.width()` hypotheses, best first (none
/// where the models' logits are not numbers).
///
/// Beam: each step takes the best 2 beam continuations of a sentence; those among the first `beam`
/// that end are finished, of which the best `beam` are kept. A sentence is done when it has that
/// many and no hypothesis in progress scores better than the worst of them. Of equal continuations
/// the one of the better hypothesis and smaller id is taken.
///
/// Sampling: each hypothesis goes on with a token drawn from what is allowed, until that is the end
/// piece. Its log-probability is the model's, whatever temperature and cuts the draw had.
///
/// The end piece is forced at `longest_output` or the models' last position, whichever comes first,
/// and where a sentence has no other allowed continuation left. Before `shortest_output` it is not
/// allowed. The models decide the device and, by their contexts, the precision
/// (`options.precision` is for `translate`); they should be in evaluation mode. No gradients.
std::vector<std::vector<Hypothesis>> search(const SearchInputs& inputs,
                                            const DecodeOptions& options,
                                            const SpecialIds& special = {});

/// `search` with one model.
std::vector<std::vector<Hypothesis>> beam_search(const Transformer& model, const Packed& sources,
                                                 const DecodeOptions& options,
                                                 const SpecialIds& special = {});

}  // namespace ballast
