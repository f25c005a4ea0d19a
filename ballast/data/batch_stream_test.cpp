#include "ballast/data/batch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <map>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"

namespace ballast {
namespace {

using ::testing::UnorderedElementsAreArray;

/// `count` pairs of random lengths; the first id of a target is the number of the pair.
std::shared_ptr<const EncodedCorpus> pairs(int32_t count) {
  auto corpus = std::make_shared<EncodedCorpus>();
  for (int32_t i = 0; i < count; ++i) {
    const auto random = philox(1, static_cast<uint64_t>(i));
    std::vector<int32_t> target{2, 10 + i};
    target.resize(2 + random[0] % 20, 5);
    target.push_back(3);
    corpus->target.add(target);
    corpus->source.add(std::vector<int32_t>(1 + random[1] % 25, 4));
  }
  return corpus;
}

/// The numbers of the pairs in a batch.
std::vector<int64_t> members(const Batch& batch) {
  const auto* outputs = batch.target_output.data_ptr<int64_t>();
  std::vector<int64_t> found;
  for (const int64_t begin : batch.target_input.segments.begins()) {
    found.push_back(outputs[begin] - 10);
  }
  return found;
}

std::vector<int64_t> all(int64_t count) { return permutation(count, 0); }

std::vector<std::vector<int64_t>> take(BatchStream& stream, int64_t count) {
  std::vector<std::vector<int64_t>> taken;
  for (int64_t i = 0; i < count; ++i) taken.push_back(members(stream.next()));
  return taken;
}

TEST(Permutation, HoldsEveryNumberOnceAndFollowsItsKey) {
  const auto order = permutation(1000, 7);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), permutation(1000, 8).begin()));
  EXPECT_EQ(order, permutation(1000, 7));
  EXPECT_NE(order, permutation(1000, 8));
  EXPECT_TRUE(permutation(0, 7).empty());
}

// Chi-squared over the 24 orders of four things, 23 degrees of freedom: above 58 with p = 8e-5.
TEST(Permutation, GivesEveryOrderEquallyOften) {
  std::map<std::vector<int64_t>, int> seen;
  constexpr int draws = 24'000;
  for (uint64_t key = 0; key < draws; ++key) ++seen[permutation(4, mix(key, 3))];
  ASSERT_EQ(seen.size(), 24U);
  double chi = 0;
  for (const auto& [order, count] : seen) chi += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi, 58);
}

TEST(BatchStream, GivesEverySequenceOnceAnEpoch) {
  BatchStream stream(pairs(500), {.tokens = 100}, 1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> seen;
    do {
      const auto batch = members(stream.next());
      seen.insert(seen.end(), batch.begin(), batch.end());
    } while (stream.position().batch != 0);
    EXPECT_THAT(seen, UnorderedElementsAreArray(all(500)));
    EXPECT_EQ(stream.position(), (Position{epoch + 1, 0}));
  }
}

TEST(BatchStream, KeepsBatchesWithinTheirLimits) {
  const auto corpus = pairs(500);
  for (const BatchLimits limits : {BatchLimits{.tokens = 100}, BatchLimits{100, 3}}) {
    BatchStream stream(corpus, limits, 1);
    for (int64_t i = 0; i < stream.batches_per_epoch(); ++i) {
      const Batch batch = stream.next();
      EXPECT_LE(batch.tokens, limits.tokens);
      EXPECT_LE(batch.source.segments.tokens(), limits.tokens);
      EXPECT_GT(batch.source.segments.count(), 0);
      const int64_t most = limits.max_sequences > 0 ? limits.max_sequences : limits.tokens;
      EXPECT_LE(batch.source.segments.count(), most);
    }
  }
}

TEST(BatchStream, PutsSequencesOfSimilarLengthTogether) {
  BatchStream stream(pairs(2000), {.tokens = 200}, 1);
  int64_t padded = 0, real = 0;
  for (int64_t i = 0; i < stream.batches_per_epoch(); ++i) {
    const Segments& segments = stream.next().target_input.segments;
    padded += segments.longest() * segments.count();
    real += segments.tokens();
  }
  EXPECT_LT(static_cast<double>(padded), 1.02 * static_cast<double>(real));
}

TEST(BatchStream, FollowsItsSeed) {
  const auto corpus = pairs(300);
  BatchStream a(corpus, {.tokens = 100}, 1), b(corpus, {.tokens = 100}, 1),
      c(corpus, {.tokens = 100}, 2);
  const auto taken = take(a, 20);
  EXPECT_EQ(taken, take(b, 20));
  EXPECT_NE(taken, take(c, 20));
}

TEST(BatchStream, OrdersEveryEpochAnew) {
  BatchStream stream(pairs(300), {.tokens = 100}, 1);
  const int64_t count = stream.batches_per_epoch();
  EXPECT_NE(take(stream, count), take(stream, count));
}

TEST(BatchStream, GoesOnFromAPositionAsIfItHadComeThereByItself) {
  const auto corpus = pairs(100);
  BatchStream whole(corpus, {.tokens = 100}, 1);
  const auto taken = take(whole, 60);
  BatchStream again(corpus, {.tokens = 100}, 1);
  const int64_t per_epoch = again.batches_per_epoch();
  for (const int64_t at : {0L, 1L, per_epoch - 1, per_epoch, per_epoch + 3, 2L}) {
    again.seek({at / per_epoch, at % per_epoch});
    for (int64_t i = at; i < at + 15; ++i) EXPECT_EQ(members(again.next()), taken[i]) << at;
    const int64_t now = at + 15;
    EXPECT_EQ(again.position(), (Position{now / per_epoch, now % per_epoch}));
  }
}

TEST(BatchStream, SharesAnEpochAmongProcesses) {
  const auto corpus = pairs(300);
  BatchStream whole(corpus, {.tokens = 100}, 1);
  BatchStream even(corpus, {.tokens = 100}, 1, {0, 2}), odd(corpus, {.tokens = 100}, 1, {1, 2});
  EXPECT_EQ(even.batches_per_epoch(), whole.batches_per_epoch() / 2);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(members(even.next()), members(whole.next()));
    EXPECT_EQ(members(odd.next()), members(whole.next()));
  }
}

TEST(BatchStream, RefusesWhatCannotBeServed) {
  const auto corpus = pairs(50);
  EXPECT_THROW(BatchStream(corpus, {.tokens = 5}, 1), DataError);
  EXPECT_THROW(BatchStream(std::make_shared<EncodedCorpus>(), {}, 1), DataError);
  EXPECT_THROW(BatchStream(corpus, {.tokens = 100000}, 1, {0, 2}), DataError);
  BatchStream stream(corpus, {.tokens = 100}, 1);
  EXPECT_THROW(stream.seek({0, stream.batches_per_epoch()}), DataError);
  EXPECT_THROW(stream.seek({-1, 0}), DataError);
}

TEST(BatchStream, EndsWithoutBeingEmptied) {
  for (int i = 0; i < 50; ++i) BatchStream(pairs(20), {.tokens = 100}, 1);
}

TEST(Prefetch, HandsTheExceptionToTheOneWhoWouldHaveHadTheResult) {
  Prefetch<int> ahead(
      [at = 0]() mutable {
        if (at == 3) throw DataError("line 3");
        return at++;
      },
      2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ahead.next(), i);
  EXPECT_THROW(ahead.next(), DataError);
  EXPECT_THROW(ahead.next(), DataError);
}

TEST(PlanInOrder, GivesShortestFirstAndTheSameEveryTime) {
  const auto corpus = pairs(100);
  const BatchPlan plan = plan_in_order(*corpus, {.tokens = 100});
  EXPECT_EQ(plan, plan_in_order(*corpus, {.tokens = 100}));
  std::vector<int64_t> lengths;
  for (const auto& batch : plan) {
    for (const int64_t i : batch) lengths.push_back(corpus->target.length(i));
  }
  EXPECT_EQ(lengths.size(), 100U);
  EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end()));
}

}  // namespace
}  // namespace ballast
