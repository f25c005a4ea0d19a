#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ballast/decode/beam_search.h"

namespace ballast {

/// Hypotheses of one source, best first; empty for an empty source.
using Hypotheses = std::vector<Hypothesis>;

/// Told how many of all sources are done; never by two threads at once.
using TranslationProgress = std::function<void(int64_t done)>;

/// Translates any number of sources (ids with the end piece), in batches of similar length, and
/// returns them in the order they came. On the CPU several batches are decoded at once, one on each
/// of libtorch's threads (which `ReferenceKernels` of the caller do not reach). Puts the model into
/// evaluation mode while it works. An empty list of ids, or the end piece alone, gives no
/// hypothesis.
std::vector<Hypotheses> translate(Transformer& model,
                                  const std::vector<std::vector<int64_t>>& sources,
                                  const DecodeOptions& options,
                                  const TranslationProgress& progress = {},
                                  const SpecialIds& special = {});

}  // namespace ballast
