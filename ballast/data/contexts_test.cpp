#include "ballast/data/contexts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "ballast/base/error.h"
#include "ballast/data/batch_stream.h"
#include "ballast/data/packed_batch.h"
#include "ballast/testing/token_streams.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using Ids = std::vector<int64_t>;

constexpr int64_t begin_id = 0;

/// Lengths of documents by text file. Their ids rise from 1, so that every id is there once.
using Lengths = std::vector<std::vector<uint32_t>>;

TokenStream stream_of(const Lengths& files) {
  testing::FilesOfDocuments documents;
  uint32_t id = 0;
  for (const auto& file : files) {
    documents.emplace_back();
    for (const uint32_t length : file) {
      documents.back().emplace_back();
      for (uint32_t i = 0; i < length; ++i) documents.back().back().push_back(++id);
    }
  }
  return testing::stream_of(documents, 60'000);
}

std::shared_ptr<const EncodedCorpus> corpus_of(const Lengths& files, const Packing& packing) {
  auto corpus = std::make_shared<EncodedCorpus>();
  corpus->contexts = std::make_shared<Contexts>(stream_of(files), packing);
  return corpus;
}

Ids numbers(const torch::Tensor& ids) {
  return {ids.data_ptr<int64_t>(), ids.data_ptr<int64_t>() + ids.numel()};
}

Ids from(int64_t first, int64_t last) {
  Ids ids(static_cast<std::size_t>(last - first + 1));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Batch all_of(const EncodedCorpus& corpus) {
  return make_batch(corpus, from(0, corpus.count() - 1));
}

TEST(Contexts, CrossDocumentsAndFilesUnlessSaidOtherwise) {
  const auto corpus = corpus_of({{2, 3}, {4}}, {.context = 4, .begin = begin_id});
  ASSERT_EQ(corpus->count(), 3);
  const Batch batch = all_of(*corpus);
  EXPECT_THAT(batch.target_input.segments.lengths(), ElementsAre(4, 4, 1));
  EXPECT_EQ(numbers(batch.target_input.tokens), from(0, 8));
  EXPECT_EQ(numbers(batch.target_output), from(1, 9));
  EXPECT_EQ(batch.tokens, 9);
  EXPECT_EQ(batch.source.segments.count(), 0);
  EXPECT_EQ(corpus->target_tokens(0), 4);
  EXPECT_EQ(corpus->target_tokens(2), 1);
}

TEST(Contexts, BeginWithAnIdWhereNoPieceBegins) {
  const auto corpus = corpus_of({{2, 3}, {4}}, {.context = 4});
  const Batch batch = all_of(*corpus);
  EXPECT_THAT(batch.target_input.segments.lengths(), ElementsAre(4, 4));
  EXPECT_EQ(numbers(batch.target_input.tokens), from(1, 8));
  EXPECT_EQ(numbers(batch.target_output), from(2, 9));
}

TEST(Contexts, FallApartAtDocumentsThatTheyDoNotCross) {
  const auto corpus =
      corpus_of({{2, 1, 4}, {3}}, {.context = 4, .begin = begin_id, .crosses_documents = false});
  const Batch batch = all_of(*corpus);
  EXPECT_THAT(batch.target_input.segments.lengths(), ElementsAre(2, 1, 1, 3, 1, 2));
  EXPECT_THAT(numbers(batch.target_input.tokens), ElementsAre(0, 1, 0, 0, 4, 5, 6, 0, 8, 9));
  EXPECT_EQ(numbers(batch.target_output), from(1, 10));
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(batch.target_input.segments.first_place(i), 0);
}

TEST(Contexts, HaveNoOutputForTheFirstIdOfADocumentWhereNoPieceBegins) {
  const auto corpus = corpus_of({{2, 3, 2, 2}}, {.context = 4, .crosses_documents = false});
  const Batch batch = all_of(*corpus);
  EXPECT_THAT(batch.target_input.segments.lengths(), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(numbers(batch.target_input.tokens), ElementsAre(1, 3, 4, 6, 8));
  EXPECT_THAT(numbers(batch.target_output), ElementsAre(2, 4, 5, 7, 9));
}

TEST(Contexts, KeepPositionsGoingWhereAsked) {
  const Packing packing{
      .context = 4, .begin = begin_id, .crosses_documents = false, .positions_go_on = true};
  const Segments segments = all_of(*corpus_of({{2, 1, 4}, {3}}, packing)).target_input.segments;
  const Ids expected{0, 2, 3, 0, 3, 0};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(segments.first_place(i), expected[i]) << i;
  EXPECT_EQ(segments.places(), 4);
  EXPECT_EQ(segments.longest(), 3);
}

// Every id is an output once, for any lengths and contexts, each after the one before it or the
// piece that begins a document.
TEST(Contexts, PredictEveryIdOnce) {
  const Lengths files{{1, 5, 2, 1}, {}, {9, 3}, {1}};
  for (const bool crosses : {true, false}) {
    for (const int64_t context : {2, 3, 4, 7, 22, 100}) {
      const auto corpus =
          corpus_of(files, {.context = context, .begin = begin_id, .crosses_documents = crosses});
      const Batch batch = all_of(*corpus);
      EXPECT_EQ(numbers(batch.target_output), from(1, 22)) << context;
      EXPECT_EQ(batch.tokens, 22);
      const Ids inputs = numbers(batch.target_input.tokens);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Ids starts{1, 2, 7, 9, 10, 19, 22};
        const bool begins =
            crosses ? i == 0 : std::ranges::count(starts, static_cast<int64_t>(i) + 1) > 0;
        EXPECT_EQ(inputs[i], begins ? begin_id : static_cast<int64_t>(i)) << context << " " << i;
      }
    }
  }
}

TEST(Contexts, OfNothingAreNone) {
  EXPECT_EQ(corpus_of({{}}, {.begin = begin_id})->count(), 0);
  EXPECT_EQ(corpus_of({{1}}, {})->count(), 0);
  EXPECT_EQ(corpus_of({{1}}, {.begin = begin_id})->count(), 1);
}

std::vector<Ids> batches(BatchStream& stream, int64_t count) {
  std::vector<Ids> found;
  for (int64_t i = 0; i < count; ++i) found.push_back(numbers(stream.next().target_output));
  return found;
}

TEST(ContextStream, GivesEveryContextOnceAPassInAnOrderOfItsOwn) {
  const auto corpus = corpus_of({{990}, {13}}, {.context = 4, .begin = begin_id});
  BatchStream stream(corpus, {.tokens = 19}, 1);  // 4 contexts
  ASSERT_EQ(stream.batches_per_epoch(), 63);      // of 251 contexts, the last of 3 ids
  std::vector<std::vector<Ids>> passes;
  for (int64_t pass = 0; pass < 3; ++pass) {
    passes.push_back(batches(stream, 63));
    EXPECT_EQ(stream.position(), (Position{pass + 1, 0}));
    Ids all;
    for (const Ids& batch : passes.back()) all.insert(all.end(), batch.begin(), batch.end());
    EXPECT_FALSE(std::ranges::is_sorted(all));
    std::ranges::sort(all);
    EXPECT_EQ(all, from(1, 1003));
  }
  EXPECT_NE(passes[0], passes[1]);
  BatchStream other(corpus, {.tokens = 19}, 2);
  EXPECT_NE(batches(other, 63), passes[0]);
}

TEST(ContextStream, GoesOnFromAPositionAsIfItHadComeThereByItself) {
  const Packing packing{.context = 4, .begin = begin_id, .mixture = {1, 3}};
  const auto corpus = corpus_of({{700}, {90, 100}}, packing);
  BatchStream whole(corpus, {.tokens = 16}, 1), again(corpus, {.tokens = 16}, 1);
  const int64_t per_epoch = whole.batches_per_epoch();
  const auto taken = batches(whole, 3 * per_epoch);
  for (const int64_t at : {0L, 1L, per_epoch - 1, per_epoch, 2 * per_epoch + 3}) {
    again.seek({at / per_epoch, at % per_epoch});
    const auto rest = batches(again, 5);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), taken.begin() + at)) << at;
  }
}

TEST(ContextStream, SharesAPassAmongProcesses) {
  const auto corpus = corpus_of({{1000}}, {.context = 4, .begin = begin_id});
  BatchStream whole(corpus, {.tokens = 16}, 1);
  BatchStream even(corpus, {.tokens = 16}, 1, {0, 2}), odd(corpus, {.tokens = 16}, 1, {1, 2});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(batches(even, 1), batches(whole, 1));
    EXPECT_EQ(batches(odd, 1), batches(whole, 1));
  }
}

// Weights 1 : 2 : 5 over files of 400, 100 and 60 contexts: 70, 140 and 350 of the 560 of a pass,
// whatever the sizes are.
TEST(ContextStream, MixesFilesByTheirWeights) {
  const Packing packing{.context = 2, .begin = begin_id, .mixture = {1, 2, 5}};
  const auto corpus = corpus_of({{800}, {200}, {120}}, packing);
  BatchStream stream(corpus, {.tokens = 2}, 1);
  ASSERT_EQ(stream.batches_per_epoch(), 560);
  std::map<int64_t, int64_t> seen;
  for (int pass = 0; pass < 4; ++pass) {
    std::vector<int64_t> shares(3);
    for (const Ids& batch : batches(stream, 560)) {
      const int64_t id = batch.front();
      ++shares[id <= 800 ? 0 : id <= 1000 ? 1 : 2];
      ++seen[id];
    }
    EXPECT_THAT(shares, ElementsAre(70, 140, 350));
  }
  // Each context of a file as often as any other, up to one: 280 of 400, 560 of 100, 1400 of 60.
  for (int64_t id = 1; id < 1120; id += 2) {
    const int64_t least = id <= 800 ? 0 : id <= 1000 ? 5 : 23;
    EXPECT_GE(seen[id], least) << id;
    EXPECT_LE(seen[id], least + 1) << id;
  }
}

TEST(ContextStream, MixedFilesBeginAnewEach) {
  const Packing packing{.context = 4, .begin = begin_id, .mixture = {1, 1}};
  const Batch batch = all_of(*corpus_of({{5}, {3}}, packing));
  EXPECT_THAT(batch.target_input.segments.lengths(), ElementsAre(4, 1, 3));
  EXPECT_THAT(numbers(batch.target_input.tokens), ElementsAre(0, 1, 2, 3, 4, 0, 6, 7));
  EXPECT_THROW(corpus_of({{5}, {}}, packing), DataError);
}

TEST(ContextStream, RefusesContextsThatNoBatchHolds) {
  EXPECT_THROW(BatchStream(corpus_of({{50}}, {.context = 8, .begin = begin_id}), {.tokens = 7}, 1),
               DataError);
}

/// What `encode_stream` of earlier versions made: all in memory.
EncodedCorpus lists_of(int64_t ids, int64_t context) {
  EncodedCorpus made;
  for (int64_t begin = 0; begin < ids; begin += context) {
    const Ids sequence = from(begin, std::min(begin + context, ids));
    made.target.add(std::vector<int32_t>(sequence.begin(), sequence.end()));
  }
  return made;
}

TEST(ContextStream, GivesLinesInTheOrderThatTheyHadInMemory) {
  const Packing packing{.context = 7, .begin = begin_id, .scattered = false};
  const auto corpus = corpus_of({{500, 1, 1}, {301}}, packing);
  const auto lists = std::make_shared<EncodedCorpus>(lists_of(803, 7));
  EXPECT_EQ(as_lists(*corpus->contexts), *lists);
  BatchStream mapped(corpus, {.tokens = 30}, 5), in_memory(lists, {.tokens = 30}, 5);
  ASSERT_EQ(mapped.batches_per_epoch(), in_memory.batches_per_epoch());
  for (int64_t i = 0; i < 3 * mapped.batches_per_epoch(); ++i) {
    const Batch a = mapped.next(), b = in_memory.next();
    ASSERT_EQ(numbers(a.target_input.tokens), numbers(b.target_input.tokens));
    ASSERT_EQ(numbers(a.target_output), numbers(b.target_output));
    ASSERT_EQ(a.target_input.segments, b.target_input.segments);
  }
}

}  // namespace
}  // namespace ballast
