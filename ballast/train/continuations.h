#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ballast/data/tokenizer.h"
#include "ballast/train/score_windows.h"

namespace ballast {

/// A text, and how it may go on.
struct ContinuationItem {
  std::string context;
  std::vector<std::string> continuations;
  bool is_list = false;  ///< whether they were given as a list
};

/// Reads JSON lines, `{"context": "...", "continuation": "..."}` or `{"context": "...",
/// "continuations": ["...", ...]}`; other names in an object are left alone, blank lines skipped.
/// Raises DataError with file and line for anything else, and for an empty continuation.
std::vector<ContinuationItem> read_continuations(const std::filesystem::path& file);

/// Ids of a context with one continuation behind it.
struct EncodedContinuation {
  std::vector<int64_t> ids;
  int64_t scored = 0;  ///< at the end: those of the continuation
  int64_t cut = 0;     ///< ids of the context that were left out at its begin
};

/// As `loglikelihood` of lm-evaluation-harness (EleutherAI) has it: white space at the end of the
/// context goes to the continuation; context and both together are encoded, and what is behind as
/// many ids as the context has is the continuation's. `begin`, if there is one, stands before the
/// context. Of more ids than `longest` + 1, the first are left out. Raises DataError where the
/// continuation alone is longer than `longest` ids, or nothing stands before it.
EncodedContinuation encode_continuation(const Tokenizer& tokenizer, std::optional<int64_t> begin,
                                        const std::string& context, const std::string& continuation,
                                        int64_t longest);

/// What a model says of a continuation.
struct ContinuationScore {
  WindowScore score;
  int64_t bytes = 0, characters = 0;  ///< of the continuation as it was given
  int64_t cut = 0;                    ///< see `EncodedContinuation`
};

/// One list for each item, in order; batched by length over all. `longest` is the most ids that the
/// model reads. Errors name the item, from 1.
std::vector<std::vector<ContinuationScore>> score_continuations(
    Transformer& model, const Tokenizer& tokenizer, const std::vector<ContinuationItem>& items,
    int64_t longest, int64_t batch_tokens);

}  // namespace ballast
