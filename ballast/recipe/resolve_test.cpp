#include "ballast/recipe/resolve.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <limits>

#include "ballast/base/error.h"
#include "ballast/recipe/memory.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

Recipe sound() {
  Recipe recipe;
  recipe.data.train = {"a", "b"};
  return recipe;
}

/// The options at which the contradictions of a recipe lie.
std::vector<std::string> found_at(const Recipe& recipe) {
  std::vector<std::string> options;
  for (const Contradiction& each : contradictions(recipe)) options.push_back(each.option);
  return options;
}

TEST(Contradictions, D06LearnedPositionsHoldTheLongestSequence) {
  Recipe recipe = sound();
  recipe.data.length.max_length = 100;
  recipe.model.positions = LearnedPositions{.max_length = 100};
  EXPECT_THAT(found_at(recipe), IsEmpty());
  recipe.model.positions = LearnedPositions{.max_length = 99};
  EXPECT_THAT(found_at(recipe), ElementsAre("model.positions.max_length"));
  recipe.model.kind = ModelKind::causal_lm;
  recipe.data.context = 99;
  EXPECT_THAT(found_at(recipe), IsEmpty());
  recipe.data.context = 100;
  EXPECT_THAT(found_at(recipe), ElementsAre("model.positions.max_length"));
}

TEST(Contradictions, AMaskingPredictsNoMoreThanAll) {
  Recipe recipe = sound();
  recipe.data.masking = {.masked = 0.9, .random = 0.2};
  EXPECT_THAT(found_at(recipe), IsEmpty());  // a translation masks nothing
  recipe.model.kind = ModelKind::masked_lm;
  EXPECT_THAT(found_at(recipe), ElementsAre("data.masking"));
}

TEST(Contradictions, RulesForSitesFitTheModelAndEachOther) {
  Recipe recipe = sound();
  recipe.model.sites = {{.to = 0.25, .residual = PostNorm{}}};
  EXPECT_THAT(found_at(recipe), IsEmpty());
  recipe.model.sites = {{.from = 0.5, .to = 0.5, .residual = PostNorm{}}};
  EXPECT_THAT(found_at(recipe), ElementsAre("model.sites"));
  recipe.model.sites = {{.stack = Stack::decoder}};
  EXPECT_THAT(found_at(recipe), ElementsAre("model.sites"));
  recipe.model.sites = {{.sublayer = Sublayer::feed_forward, .residual = HyperConnections{}}};
  EXPECT_THAT(found_at(recipe), ElementsAre("model.sites", "model.sites"));  // in both stacks
  recipe.model.sites.clear();
  recipe.model.ramp_by_layer = true;
  EXPECT_THAT(found_at(recipe), ElementsAre("model.ramp_by_layer"));
}

TEST(Contradictions, ASchedulesEndAndDecayArePossible) {
  Recipe recipe = sound();
  recipe.schedule = WsdOptions{.final_ratio = 0};
  EXPECT_THAT(found_at(recipe), ElementsAre("schedule.final_ratio"));
  recipe.schedule = CosineOptions{};
  recipe.train.steps = 0;
  EXPECT_THAT(found_at(recipe), ElementsAre("schedule.kind"));
  recipe.schedule = InverseSqrtOptions{};
  EXPECT_THAT(found_at(recipe), IsEmpty());
}

TEST(Contradictions, AMirroredFeedForwardLayerHasAnEvenWidth) {
  Recipe recipe = sound();
  recipe.init = LookLinear{};
  EXPECT_THAT(found_at(recipe), IsEmpty());
  recipe.model.d_ff = 2047;
  EXPECT_THAT(found_at(recipe), ElementsAre("model.d_ff"));
  recipe.init = Fairseq{};
  EXPECT_THAT(found_at(recipe), IsEmpty());
}

TEST(Contradictions, PatienceHasValidationsToCount) {
  Recipe recipe = sound();
  recipe.train.patience = 2;
  EXPECT_THAT(found_at(recipe), ElementsAre("train.patience"));
  recipe.data.valid = {"a", "b"};
  EXPECT_THAT(found_at(recipe), IsEmpty());
  recipe.train.validate_every = 0;
  EXPECT_THAT(found_at(recipe), ElementsAre("train.patience"));
}

TEST(Contradictions, SizesThatLeaveTheirBitsAreRefused) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  Recipe recipe = sound();
  recipe.model.encoder_layers = recipe.train.batch_tokens = recipe.data.context = most;
  recipe.model.positions = SinusoidalPositions{.first = most};
  EXPECT_THAT(found_at(recipe), ElementsAre("model.encoder_layers", "model.positions.first",
                                            "data.context", "train.batch_tokens"));
}

TEST(Doubts, AWarmupThatIsNotOverIsHardlyMeant) {
  Recipe recipe = sound();
  recipe.schedule = ConstantOptions{.warmup = 10};
  recipe.train.steps = 10;
  EXPECT_THAT(doubts(recipe), IsEmpty());
  recipe.train.steps = 9;
  ASSERT_EQ(doubts(recipe).size(), 1u);
  EXPECT_EQ(doubts(recipe).front().option, "schedule.warmup");
}

class LoadRecipe : public ::testing::Test {
 protected:
  LoadRecipe() {
    std::ofstream(directory_ / "a") << "text";
    std::ofstream(directory_ / "empty").close();
    std::filesystem::create_directory(directory_ / "folder");
    EXPECT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  }

  Recipe load(const std::string& text, TextFiles files = TextFiles::needed) {
    std::ofstream(directory_ / "r.toml") << text;
    return load_recipe(directory_ / "r.toml", {}, files);
  }

  TemporaryDirectory directory_;
};

TEST_F(LoadRecipe, FilesThatCannotBeReadAreToldTogether) {
  const auto all = AllOf(HasSubstr("r.toml:2:1: data.train: "), HasSubstr("missing is not there"),
                         HasSubstr("folder is a folder"), HasSubstr("r.toml:3:1: data.valid: "),
                         HasSubstr("pipe is a pipe"), HasSubstr("empty is empty"));
  const std::string text = R"([data]
train = ["missing", "folder"]
valid = ["pipe", "empty"]
)";
  EXPECT_THAT([&] { load(text); }, ThrowsMessage<DataError>(all));
  EXPECT_NO_THROW(load(text, TextFiles::not_needed));
  EXPECT_THAT([&] { load(text + "[train]\npatience = 1\nvalidate_every = 0\n"); },
              ThrowsMessage<RecipeError>(AllOf(all, HasSubstr("r.toml:5:1: train.patience"))));
}

TEST_F(LoadRecipe, FilesThatAreThereAreTaken) {
  EXPECT_EQ(load("data.train = ['a', 'a']").data.train.front(), (directory_ / "a").string());
}

TEST(Memory, WeightsAreCounted) {
  ModelOptions options;
  options.d_model = 4;
  options.d_ff = 8;
  options.heads = 2;
  options.encoder_layers = 2;
  options.decoder_layers = 3;
  options.share_embeddings = EmbeddingSharing::all;
  EXPECT_EQ(matrix_weights(options, {10, 10}), 2 * (64 + 64) + 3 * (128 + 64) + 40);
  options.share_embeddings = EmbeddingSharing::none;
  EXPECT_EQ(matrix_weights(options, {10, 20}), 2 * (64 + 64) + 3 * (128 + 64) + 40 + 160);
  options.kind = ModelKind::causal_lm;
  EXPECT_EQ(matrix_weights(options, {0, 20}), 3 * (64 + 64) + 160);
}

TEST(Memory, D13AModelThatNoMachineHoldsIsRefused) {
  Recipe recipe;
  ModelOptions& options = recipe.model;
  EXPECT_NO_THROW(refuse_too_large(recipe, {1000, 1000}, Purpose::training));
  options.d_model = 1'000'000;
  EXPECT_THAT(
      [&] {
        refuse_too_large(recipe, {1000, 1000}, Purpose::use);
      },
      ThrowsMessage<ResourceError>(
          AllOf(HasSubstr("model.d_model = 1000000"), HasSubstr("lower"))));
  options.d_model = options.d_ff = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(refuse_too_large(recipe, {1000, 1000}, Purpose::use), ResourceError);
}

}  // namespace
}  // namespace ballast
