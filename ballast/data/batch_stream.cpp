#include "ballast/data/batch_stream.h"

#include <fmt/format.h>

#include "ballast/base/error.h"
#include "ballast/data/contexts.h"

namespace ballast {
namespace {

constexpr std::size_t batches_ahead = 4;

Position after(Position position, int64_t batches_per_epoch) {
  if (++position.batch < batches_per_epoch) return position;
  return {position.epoch + 1, 0};
}

/// Whether passes are drawn without a plan of all their batches.
bool is_scattered(const EncodedCorpus& corpus) {
  return corpus.contexts && corpus.contexts->packing().scattered;
}

int64_t batches_of(const EncodedCorpus& corpus, const BatchLimits& limits) {
  return is_scattered(corpus) ? corpus.contexts->batches(limits)
                              : static_cast<int64_t>(plan_in_order(corpus, limits).size());
}

}  // namespace

BatchStream::BatchStream(std::shared_ptr<const EncodedCorpus> corpus, const BatchLimits& limits,
                         uint64_t seed, const Shard& shard)
    : corpus_(std::move(corpus)),
      limits_(limits),
      seed_(seed),
      shard_(shard),
      batches_(batches_of(*corpus_, limits) / shard.count) {
  if (batches_ == 0) {
    throw DataError(
        fmt::format("the corpus gives fewer batches than the {} processes; lower the "
                    "tokens of a batch or take fewer processes",
                    shard.count));
  }
  start();
}

Batch BatchStream::next() {
  Batch batch = ahead_->next();
  position_ = after(position_, batches_);
  return batch;
}

void BatchStream::seek(const Position& position) {
  if (position.epoch < 0 || position.batch < 0 || position.batch >= batches_) {
    throw DataError(fmt::format(
        "there is no batch {} of epoch {}; a pass over this corpus has {} batches; resume with the "
        "text, batch size and number of processes of the first run",
        position.batch, position.epoch, batches_));
  }
  ahead_.reset();
  position_ = position;
  start();
}

void BatchStream::start() {
  const auto produce = [corpus = corpus_, limits = limits_, seed = seed_, shard = shard_,
                        batches = batches_, at = position_, plan = BatchPlan()]() mutable {
    const int64_t index = at.batch * shard.count + shard.index;
    if (is_scattered(*corpus)) {
      const auto drawn = corpus->contexts->drawn(limits, seed, {at.epoch, index});
      Batch batch = make_batch(*corpus, drawn, at.epoch);
      at = after(at, batches);
      return batch;
    }
    if (plan.empty()) plan = plan_epoch(*corpus, limits, seed, at.epoch);
    Batch batch = make_batch(*corpus, plan[index], at.epoch);
    at = after(at, batches);
    if (at.batch == 0) plan.clear();
    return batch;
  };
  ahead_ = std::make_unique<Prefetch<Batch>>(produce, batches_ahead);
}

}  // namespace ballast
