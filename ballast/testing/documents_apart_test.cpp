#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ballast/data/contexts.h"
#include "ballast/data/packed_batch.h"
#include "ballast/testing/token_streams.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using ::testing::ElementsAreArray;
using testing::LawCase;
using testing::toy_vocabulary;

constexpr int64_t begin = 2, end = 3;

/// Ids 4 and up are text; 9 is in the second document alone, 10 in none.
const std::vector<std::vector<uint32_t>> documents{{4, 5, 6, end}, {9, end}, {7, 4, 8, 5, 6, end}};

Batch batch_of(const std::vector<std::vector<uint32_t>>& texts, bool positions_go_on = false) {
  EncodedCorpus corpus;
  corpus.contexts = std::make_shared<Contexts>(testing::stream_of({texts}, toy_vocabulary),
                                               Packing{.context = 9,
                                                       .begin = begin,
                                                       .crosses_documents = false,
                                                       .positions_go_on = positions_go_on});
  return make_batch(corpus, std::vector<int64_t>{0});
}

std::shared_ptr<Transformer> model_of(const LawCase& each) {
  ModelOptions options = each.options;
  options.kind = ModelKind::causal_lm;
  return testing::toy_model(options);
}

/// What the decoder gives for each document of a batch.
std::vector<torch::Tensor> rows_of(const Transformer& model, const Batch& batch) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor hidden = model.forward(batch.source, batch.target_input);
  const Segments& segments = batch.target_input.segments;
  std::vector<torch::Tensor> found;
  for (int64_t i = 0; i < segments.count(); ++i) {
    found.push_back(hidden.narrow(0, segments.begin(i), segments.length(i)));
  }
  return found;
}

class ApartDocuments : public ::testing::TestWithParam<LawCase> {};

// Not even by 0 * NaN: the row of the one id of the second document is none.
TEST_P(ApartDocuments, DoNotReachEachOther) {
  const auto model = model_of(GetParam());
  const Batch batch = batch_of(documents);
  ASSERT_THAT(batch.target_input.segments.lengths(), ElementsAreArray({4, 2, 3}));
  const auto before = rows_of(*model, batch);
  {
    const torch::NoGradGuard no_grad;
    model->target_embedding->weight[9].fill_(std::numeric_limits<float>::quiet_NaN());
  }
  const auto after = rows_of(*model, batch);
  EXPECT_TRUE(after[1].isnan().any().item<bool>());
  for (const int i : {0, 2}) EXPECT_TRUE(before[i].equal(after[i])) << i;
}

TEST_P(ApartDocuments, ArePredictedAsIfEachStoodAlone) {
  const auto model = model_of(GetParam());
  const auto together = rows_of(*model, batch_of(documents));
  for (std::size_t i = 0; i < 3; ++i) {
    const torch::Tensor alone = rows_of(*model, batch_of({documents[i]})).front();
    const torch::Tensor front = alone.narrow(0, 0, together[i].size(0));
    EXPECT_TRUE(torch::allclose(together[i], front, 1e-5, 1e-6)) << i;
  }
}

TEST_P(ApartDocuments, DependOnTheirPlaceWherePositionsGoOn) {
  const auto model = model_of(GetParam());
  const auto restarting = rows_of(*model, batch_of(documents));
  const auto going_on = rows_of(*model, batch_of(documents, true));
  EXPECT_TRUE(restarting[0].equal(going_on[0]));
  const bool adds_positions = form_of(model->options().positions).added != AddedPositions::none;
  for (const int i : {1, 2}) {
    EXPECT_EQ(torch::allclose(restarting[i], going_on[i], 1e-5, 1e-5), !adds_positions) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Positions, ApartDocuments, ::testing::ValuesIn(testing::position_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ballast
