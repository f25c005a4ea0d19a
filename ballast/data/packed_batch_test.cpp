#include "ballast/data/packed_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int64_t> values(const torch::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

TEST(Batch, ShiftsTargetsByOneAndEndsEverySentence) {
  const EncodedCorpus corpus{TokenLists({7, 3, 8, 8, 3}, {2, 5}),
                             TokenLists({2, 5, 3, 2, 6, 9, 3}, {3, 7})};
  const std::vector<int64_t> order{1, 0};
  const Batch batch = make_batch(corpus, order);
  EXPECT_THAT(values(batch.source.tokens), ElementsAre(8, 8, 3, 7, 3));
  EXPECT_THAT(batch.source.segments.lengths(), ElementsAre(3, 2));
  EXPECT_THAT(values(batch.target_input.tokens), ElementsAre(2, 6, 9, 2, 5));
  EXPECT_THAT(batch.target_input.segments.lengths(), ElementsAre(3, 2));
  EXPECT_THAT(values(batch.target_output), ElementsAre(6, 9, 3, 5, 3));
  EXPECT_EQ(batch.tokens, 5);
}

TEST(Batch, OfALanguageModelHasNoSource) {
  const EncodedCorpus corpus{{}, TokenLists({2, 5, 6}, {3})};
  const std::vector<int64_t> order{0};
  const Batch batch = make_batch(corpus, order);
  EXPECT_EQ(batch.source.segments.count(), 0);
  EXPECT_EQ(batch.source.tokens.numel(), 0);
  EXPECT_THAT(values(batch.target_output), ElementsAre(5, 6));
}

TEST(Batch, KeepsEverythingOnTheWayToADevice) {
  const EncodedCorpus corpus{TokenLists({7, 3}, {2}), TokenLists({2, 5, 3}, {3})};
  const std::vector<int64_t> order{0};
  const Batch batch = make_batch(corpus, order).to(torch::kCPU);
  EXPECT_THAT(values(batch.source.tokens), ElementsAre(7, 3));
  EXPECT_THAT(batch.target_input.segments.lengths(), ElementsAre(2));
  EXPECT_EQ(batch.tokens, 2);
}

TEST(Pack, LaysSourcesEndToEnd) {
  const std::vector<std::vector<int64_t>> sources{{5, 3}, {6, 7, 3}};
  const Packed packed = pack(sources);
  EXPECT_THAT(values(packed.tokens), ElementsAre(5, 3, 6, 7, 3));
  EXPECT_THAT(packed.segments.begins(), ElementsAre(0, 2));
  EXPECT_THAT(values(pack(std::vector<std::vector<int64_t>>{}).tokens), IsEmpty());
}

}  // namespace
}  // namespace ballast
