#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ballast/decode/batches.h"
#include "ballast/decode/beam_search.h"

namespace ballast {

/// Hypotheses of one source, best first; empty for an empty source.
using Hypotheses = std::vector<Hypothesis>;

/// Told how many of all sources are done; never by two threads at once.
using TranslationProgress = std::function<void(int64_t done)>;

/// Translates any number of sources, in batches of similar length, and returns them in the order
/// they came; several models vote (`Ensemble`). On the CPU several batches are decoded at once, one
/// on each of libtorch's threads (which `ReferenceKernels` of the caller do not reach). Puts the
/// models into evaluation mode while it works. An empty list of ids, or the end piece alone, gives
/// no hypothesis. Throws DataError for a source longer than the models' positions, before anything
/// is translated.
std::vector<Hypotheses> translate(std::span<Transformer* const> models, const Sources& sources,
                                  const DecodeOptions& options,
                                  const TranslationProgress& progress = {},
                                  const SpecialIds& special = {});
std::vector<Hypotheses> translate(Transformer& model, const Sources& sources,
                                  const DecodeOptions& options,
                                  const TranslationProgress& progress = {},
                                  const SpecialIds& special = {});

/// The text of each source's best hypothesis, empty where it has none.
std::vector<std::string> best_texts(const std::vector<Hypotheses>& found, const Tokenizer& target);

}  // namespace ballast
