#pragma once

#include <cstdint>
#include <memory>

#include "ballast/data/batch_plan.h"
#include "ballast/data/packed_batch.h"
#include "ballast/data/prefetch.h"

namespace ballast {

/// Which batches of a pass belong to this process: every `count`-th, from `index`. The last few are
/// left out of the pass when they do not go round.
struct Shard {
  int64_t index = 0;
  int64_t count = 1;
};

/// The batches of one pass after the other, without end. They depend on corpus, limits, seed and
/// position alone: a stream that is put to a position goes on like one that came there by itself.
/// A thread of its own makes them ahead of time; what it raises comes out of `next`.
class BatchStream {
 public:
  BatchStream(std::shared_ptr<const EncodedCorpus> corpus, const BatchLimits& limits, uint64_t seed,
              const Shard& shard = {});

  Batch next();

  /// Of the batch that `next` gives next.
  Position position() const { return position_; }

  /// Raises DataError for a position that no pass over this corpus has.
  void seek(const Position& position);

  /// The same in every pass.
  int64_t batches_per_epoch() const { return batches_; }

 private:
  void start();

  std::shared_ptr<const EncodedCorpus> corpus_;
  BatchLimits limits_;
  uint64_t seed_;
  Shard shard_;
  int64_t batches_;
  Position position_;
  std::unique_ptr<Prefetch<Batch>> ahead_;
};

}  // namespace ballast
