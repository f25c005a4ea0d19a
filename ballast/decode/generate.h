#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ballast/decode/next_token.h"
#include "ballast/model/transformer.h"

namespace ballast {

/// Why a text is not longer: the end piece, its listener, `max_new_tokens`, or the last position
/// that the model has.
enum class Ending { end, stopped, length, positions };

/// Tokens behind a prompt, without the end piece that ends them.
struct Generated {
  std::vector<int64_t> tokens;
  Ending ending = Ending::length;
};

/// Whose text it is: which prompt, and which of its samples, from 0.
struct OutputPlace {
  int64_t prompt = 0, sample = 0;
};

/// Told every token when it is chosen; false ends its output. May be empty.
using TokenListener = std::function<bool(const OutputPlace& output, int64_t token)>;

/// Told when an output is done. May be empty.
using OutputListener = std::function<void(const OutputPlace& output, const Generated& generated)>;

/// Continues prompts of a causal_lm; each begins with the start piece. Returns `options.samples`
/// outputs for each prompt, one prompt after the other.
///
/// A prompt is read in one pass, by itself, and outputs are then extended together, at most
/// `options.batch` at once, with products that give a row the bits it has alone: so a text depends
/// on neither its neighbours nor the number of threads. Listeners are called from this thread.
/// Throws DataError for a prompt that the model has no positions for, before anything is generated,
/// and where the logits are no numbers.
std::vector<Generated> generate(Transformer& model,
                                const std::vector<std::vector<int64_t>>& prompts,
                                const GenerateOptions& options, const TextVocabulary& vocabulary,
                                const TokenListener& each_token = {},
                                const OutputListener& each_output = {});

}  // namespace ballast
