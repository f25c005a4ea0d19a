#include "ballast/train/trainer.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "ballast/base/error.h"
#include "ballast/testing/temporary_directory.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::toy_vocabulary;

/// Pairs whose sides have so many tokens each.
std::shared_ptr<const EncodedCorpus> corpus_of(const std::vector<int64_t>& lengths) {
  auto corpus = std::make_shared<EncodedCorpus>();
  int32_t id = 4;
  for (const int64_t length : lengths) {
    std::vector<int32_t> source, target{2};
    for (int64_t i = 0; i + 1 < length; ++i) {
      source.push_back(id);
      target.push_back(id);
      id = id + 1 < toy_vocabulary ? id + 1 : 4;
    }
    source.push_back(3);
    target.push_back(3);
    corpus->source.add(source);
    corpus->target.add(target);
  }
  return corpus;
}

class TrainingRun : public ::testing::Test {
 protected:
  static TrainingParts parts(std::shared_ptr<const EncodedCorpus> valid) {
    TrainingParts made;
    made.model = std::make_shared<Transformer>(testing::toy_options(PreNorm{}),
                                               VocabularySizes{toy_vocabulary, toy_vocabulary});
    made.plan = plan(*made.model, Rules{});
    parameterize(made.plan);
    initialize(made.plan, 1);
    made.options = {.steps = 6,
                    .batch_tokens = 12,
                    .log_every = 1,
                    .validate_every = 2,
                    .bleu_sentences = 0,
                    .checkpoint_every = 3,
                    .keep = 9};
    made.train = corpus_of({4, 5, 3, 6, 4, 5, 7, 3});
    made.valid = std::move(valid);
    return made;
  }

  /// Trains to the end, or to the error that comes before.
  void train(const std::string& run, std::shared_ptr<const EncodedCorpus> valid) {
    auto directory = RunDirectory::open_or_create(directory_ / run);
    std::ostringstream out;
    Trainer(parts(std::move(valid)), directory, out, Terminal::no).run();
  }

  std::string text(const std::string& file) { return read_file(directory_ / file); }

  void expect_same(const std::string& run, const std::string& other) {
    for (const auto* file : {"log.jsonl", "best.json", "step-00000006/model.safetensors",
                             "step-00000006/optimizer.safetensors", "step-00000006/state.json"}) {
      EXPECT_EQ(text(run + "/" + file), text(other + "/" + file)) << file;
    }
  }

  std::shared_ptr<const EncodedCorpus> good_ = corpus_of({4, 3, 5}), bad_ = corpus_of({4, 13});
  TemporaryDirectory directory_;
};

TEST_F(TrainingRun, D07AnErrorInAValidationCostsNoStep) {
  train("whole", good_);
  EXPECT_THROW(train("cut", bad_), DataError);
  EXPECT_THAT(RunDirectory::open(directory_ / "cut").steps(), ElementsAre(2));
  EXPECT_THROW(train("cut", bad_), DataError);  // what is owed comes before another step
  EXPECT_THAT(RunDirectory::open(directory_ / "cut").steps(), ElementsAre(2));
  train("cut", good_);
  expect_same("cut", "whole");
}

TEST_F(TrainingRun, AKillBetweenTheBestStepAndItsRecordIsMadeUpFor) {
  train("whole", good_);
  train("cut", good_);
  fs::remove_all(directory_ / "cut/step-00000006");
  // As it lay there after step 4 was named the best, or not, and before its validation was
  // recorded.
  std::istringstream lines(text("cut/log.jsonl"));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool late = line.find("{\"step\":4,\"validation") == 0 || line.find("{\"step\":5") == 0 ||
                      line.find("{\"step\":6") == 0;
    if (!late) kept += line + "\n";
  }
  std::ofstream(directory_ / "cut/log.jsonl") << kept;
  train("cut", good_);
  expect_same("cut", "whole");
}

TEST_F(TrainingRun, ABestStepThatWasDeletedIsForgotten) {
  train("run", good_);
  auto directory = RunDirectory::open_or_create(directory_ / "run");
  const int64_t best = directory.best()->step;
  for (const int64_t step : directory.steps()) {
    if (step >= best) fs::remove_all(directory.model_file(step).parent_path());
  }
  std::ostringstream out;
  const Trainer resumed(parts(good_), directory, out, Terminal::no);
  EXPECT_TRUE(!directory.best() || directory.best()->step < best);
}

TEST_F(TrainingRun, InstrumentsLeaveNoTraceInWhatIsTrained) {
  for (const auto& [run, every] : {std::pair{"seen", 1}, std::pair{"unseen", 0}}) {
    TrainingParts with = parts(nullptr);
    with.options.instruments_every = every;
    with.options.recompute = true;
    auto directory = RunDirectory::open_or_create(directory_ / run);
    std::ostringstream out;
    Trainer(std::move(with), directory, out, Terminal::no).run();
  }
  for (const auto* file :
       {"step-00000006/model.safetensors", "step-00000006/optimizer.safetensors"}) {
    EXPECT_EQ(text(std::string("seen/") + file), text(std::string("unseen/") + file)) << file;
  }
  const History history = history_in(directory_ / "seen/log.jsonl");
  ASSERT_EQ(history.size(), 6U);
  EXPECT_EQ(history[5].step, 6);
  EXPECT_EQ(history[0].extremes.size(), gauges().size());
  EXPECT_TRUE(history_in(directory_ / "unseen/log.jsonl").empty());
}

TEST_F(TrainingRun, ADivergedOneLeavesItsPostMortem) {
  TrainingParts with = parts(nullptr);
  Adam adam;
  adam.lr = 1e30;
  with.optimizer = adam;
  with.options.clip_norm = 0;
  with.options.stability.non_finite_limit = 1;
  auto directory = RunDirectory::open_or_create(directory_ / "run");
  std::ostringstream out;
  Trainer trainer(std::move(with), directory, out, Terminal::no);
  try {
    trainer.run();
    FAIL() << "trained with a rate of 1e30";
  } catch (const DivergenceError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("post-mortem"));
    EXPECT_EQ(text("run/post-mortem.txt"), error.what());
  }
}

// It acts on the weights, and what is reported before the first update is the loss without it.
TEST_F(TrainingRun, AZLossIsLearntFromAndNotReported) {
  const auto lines_of = [&](const std::string& run, double z_loss) {
    TrainingParts with = parts(nullptr);
    with.options.z_loss = z_loss;
    with.options.validate_every = 0;
    auto directory = RunDirectory::open_or_create(directory_ / run);
    std::ostringstream out;
    Trainer(std::move(with), directory, out, Terminal::no).run();
    std::istringstream lines(text(run + "/log.jsonl"));
    std::string first;
    std::getline(lines, first);
    return first.substr(0, first.find("\"gradient"));
  };
  EXPECT_EQ(lines_of("without", 0), lines_of("with", 0.1));
  EXPECT_NE(text("without/step-00000006/model.safetensors"),
            text("with/step-00000006/model.safetensors"));
}

}  // namespace
}  // namespace ballast
