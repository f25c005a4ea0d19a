#include "ballast/data/batch_stream.h"

#include <fmt/format.h>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr std::size_t batches_ahead = 4;

Position after(Position position, int64_t batches_per_epoch) {
  if (++position.batch < batches_per_epoch) return position;
  return {position.epoch + 1, 0};
}

}  // namespace

BatchStream::BatchStream(std::shared_ptr<const EncodedCorpus> corpus, const BatchLimits& limits,
                         uint64_t seed, const Shard& shard)
    : corpus_(std::move(corpus)),
      limits_(limits),
      seed_(seed),
      shard_(shard),
      batches_(static_cast<int64_t>(plan_in_order(*corpus_, limits).size()) / shard.count) {
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
    if (plan.empty()) plan = plan_epoch(*corpus, limits, seed, at.epoch);
    Batch batch = make_batch(*corpus, plan[at.batch * shard.count + shard.index], at.epoch);
    at = after(at, batches);
    if (at.batch == 0) plan.clear();
    return batch;
  };
  ahead_ = std::make_unique<Prefetch<Batch>>(produce, batches_ahead);
}

}  // namespace ballast
