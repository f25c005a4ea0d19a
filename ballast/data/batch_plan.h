#pragma once

#include <cstdint>
#include <vector>

#include "ballast/data/corpus.h"

namespace ballast {

/// How large a batch may be. Tokens count on both sides, with the end piece.
struct BatchLimits {
  int64_t tokens = 4096;      ///< of the targets, and of the sources
  int64_t max_sequences = 0;  ///< 0 for any number
};

/// A place between two batches of an endless stream.
struct Position {
  int64_t epoch = 0;  ///< passes over the corpus that are complete
  int64_t batch = 0;  ///< batches taken in the running pass

  bool operator==(const Position&) const = default;
};

/// The batches of one pass over a corpus: the numbers of the sequences in each.
using BatchPlan = std::vector<std::vector<int64_t>>;

/// A permutation of 0 .. count - 1 that depends on the key alone (Fisher and Yates, on Philox).
std::vector<int64_t> permutation(int64_t count, uint64_t key);

/// Batches of sequences of similar length, shortest first, every sequence once; the same on every
/// call. For evaluation. Raises DataError when there is none or one alone exceeds the limit.
BatchPlan plan_in_order(const EncodedCorpus& corpus, const BatchLimits& limits);

/// The same batch sizes in random order, filled with random sequences of the lengths; depends on
/// seed and epoch alone, and every epoch has the same number of batches.
BatchPlan plan_epoch(const EncodedCorpus& corpus, const BatchLimits& limits, uint64_t seed,
                     int64_t epoch);

}  // namespace ballast
