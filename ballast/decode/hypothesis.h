#pragma once

#include <cstdint>
#include <vector>

#include "ballast/data/tokenizer.h"
#include "ballast/decode/options.h"

namespace ballast {

/// A finished output.
struct Hypothesis {
  std::vector<int64_t> tokens;  ///< without begin and end piece
  double log_probability = 0;   ///< sum, nats, of its tokens and the end piece
  double score = 0;             ///< what hypotheses are ranked by
};

/// Ids with a meaning of their own while decoding; as `Tokenizer::train` gives them.
struct SpecialIds {
  int64_t padding = 0, begin = 2, end = 3;
};

/// Those of a target vocabulary; one that has no pad piece has the begin piece twice.
SpecialIds special_ids(const Tokenizer& target);

/// log_probability over the length penalty; `length` counts the end piece.
double hypothesis_score(double log_probability, int64_t length, const DecodeOptions& options);

/// Most tokens, the end piece included, that the output for a source of this length may have.
int64_t longest_output(int64_t source_length, const DecodeOptions& options);

/// Sorts by score, best first; equal scores stay in the order they were found in.
void rank(std::vector<Hypothesis>& hypotheses);

}  // namespace ballast
