#include "ballast/store/run_directory.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <torch/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <limits>
#include <thread>

#include "ballast/base/error.h"
#include "ballast/store/safetensors.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void save(RunDirectory& run, int64_t step) {
  const auto value = static_cast<double>(step);
  run.save_step(step, {{"weight", torch::full({300}, value)}},
                {{"moment", torch::full({7}, value)}}, {{"step", step}});
}

void expect_complete(const RunDirectory& run, int64_t step) {
  const auto saved = run.load_step(step);
  const auto value = static_cast<double>(step);
  EXPECT_TRUE(torch::equal(tensor_named(saved.model, "weight"), torch::full({300}, value)));
  EXPECT_TRUE(torch::equal(tensor_named(saved.optimizer, "moment"), torch::full({7}, value)));
  EXPECT_EQ(saved.state.at("step"), step);
}

class Run : public ::testing::Test {
 protected:
  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "runs/first";
};

TEST_F(Run, AStepComesBackAsItWasSaved) {
  auto run = RunDirectory::open_or_create(path_);
  EXPECT_EQ(run.last_complete_step(), std::nullopt);
  save(run, 5);
  save(run, 123456789);
  EXPECT_THAT(run.steps(), ElementsAre(5, 123456789));
  EXPECT_EQ(run.last_complete_step(), 123456789);
  expect_complete(run, 5);
  EXPECT_TRUE(std::filesystem::exists(path_ / "step-00000005/model.safetensors"));
  EXPECT_EQ(run.load_model(5).size(), 1);
}

TEST_F(Run, OnlyNamesThatSaveStepGivesAreSteps) {
  auto run = RunDirectory::open_or_create(path_);
  for (const auto* name : {"step-5", "step-00000005x", "step-", "step--0000001", "step-+0000001"}) {
    std::filesystem::create_directory(path_ / name);
  }
  run.write_text("step-00000007", "a file");
  EXPECT_THAT(run.steps(), ElementsAre());
}

TEST_F(Run, ATrainingInUseIsRefusedToASecondOne) {
  {
    const auto run = RunDirectory::open_or_create(path_);
    EXPECT_THAT([this] { RunDirectory::open_or_create(path_); },
                ThrowsMessage<StoreError>(
                    AllOf(HasSubstr(path_.string()), HasSubstr("another training writes"))));
    EXPECT_EQ(RunDirectory::open(path_).last_complete_step(), std::nullopt);
  }
  EXPECT_NO_THROW(RunDirectory::open_or_create(path_));
}

TEST_F(Run, AReaderWritesNothing) {
  { RunDirectory::open_or_create(path_).write_text("recipe.toml", ""); }
  auto reader = RunDirectory::open(path_);
  const auto refused = ThrowsMessage<StoreError>(HasSubstr("reading only"));
  EXPECT_THAT([&] { save(reader, 1); }, refused);
  EXPECT_THAT([&] { reader.prune(1); }, refused);
  EXPECT_THAT([&] { reader.write_text("a", "b"); }, refused);
}

TEST_F(Run, AReaderNeedsARunDirectory) {
  EXPECT_THAT([this] { RunDirectory::open(path_); },
              ThrowsMessage<StoreError>(HasSubstr("is not a run directory")));
}

TEST_F(Run, WhatAKilledRunLeftUnfinishedIsRemovedWhenWritingGoesOn) {
  { RunDirectory::open_or_create(path_).write_text("recipe.toml", ""); }
  std::filesystem::create_directories(path_ / "step-00000009.partial");
  write_file(path_ / "step-00000009.partial/model.safetensors", "half");
  write_file(path_ / "recipe.toml.partial", "half");
  EXPECT_EQ(RunDirectory::open(path_).last_complete_step(), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(path_ / "recipe.toml.partial"));
  auto run = RunDirectory::open_or_create(path_);
  EXPECT_FALSE(std::filesystem::exists(path_ / "recipe.toml.partial"));
  save(run, 9);
  expect_complete(run, 9);
}

TEST_F(Run, AStepIsWrittenOnce) {
  auto run = RunDirectory::open_or_create(path_);
  save(run, 9);
  EXPECT_THAT([&] { save(run, 9); }, ThrowsMessage<StoreError>(HasSubstr("exists already")));
  expect_complete(run, 9);
}

TEST_F(Run, ASaveThatFailsLeavesNoTrace) {
  auto run = RunDirectory::open_or_create(path_);
  const auto value = torch::ones({1}, torch::kComplexFloat);
  EXPECT_THROW(run.save_step(3, {}, {{"moment", value}}, {}), StoreError);
  EXPECT_THROW(run.save_step(3, {}, {}, {{"text", "\xff"}}), StoreError);
  EXPECT_EQ(run.last_complete_step(), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(path_ / "step-00000003.partial"));
}

TEST_F(Run, ADamagedStepIsNamedTogetherWithTheWayBack) {
  auto run = RunDirectory::open_or_create(path_);
  save(run, 4);
  save(run, 8);
  const auto model = run.model_file(8);
  std::filesystem::resize_file(model, std::filesystem::file_size(model) - 1);
  EXPECT_THAT([&] { run.load_step(8); },
              ThrowsMessage<StoreError>(
                  AllOf(HasSubstr(model.string()), HasSubstr("truncated"),
                        HasSubstr("step 4 was kept: delete " + model.parent_path().string()))));
  std::filesystem::remove_all(path_ / "step-00000004");
  write_file(path_ / "step-00000008/state.json", "{");
  EXPECT_THAT([&] { run.load_step(8); },
              ThrowsMessage<StoreError>(HasSubstr("no step before 8 was kept")));
}

TEST_F(Run, AStepThatIsNotThereIsAnsweredWithThoseThatAre) {
  auto run = RunDirectory::open_or_create(path_);
  EXPECT_THAT([&] { run.load_step(1); },
              ThrowsMessage<StoreError>(HasSubstr("no step 1; it has none")));
  save(run, 4);
  save(run, 8);
  EXPECT_THAT([&] { run.load_model(1); },
              ThrowsMessage<StoreError>(HasSubstr("no step 1; it has 4, 8")));
}

TEST_F(Run, PruningKeepsTheLastStepsAndTheBest) {
  auto run = RunDirectory::open_or_create(path_);
  for (const int64_t step : {1, 2, 3, 4, 5}) save(run, step);
  run.set_best({.step = 2, .metric = "validation_loss", .value = 3.5});
  run.prune(2);
  EXPECT_THAT(run.steps(), ElementsAre(2, 4, 5));
  run.set_best({.step = 4, .metric = "validation_loss", .value = 3.25});
  run.prune(0);
  EXPECT_THAT(run.steps(), ElementsAre(4, 5));
  expect_complete(run, 4);
}

TEST_F(Run, TheBestStepIsRemembered) {
  auto run = RunDirectory::open_or_create(path_);
  EXPECT_EQ(run.best(), std::nullopt);
  EXPECT_THROW(run.set_best({.step = 2, .metric = "bleu", .value = 30.1}), StoreError);
  save(run, 2);
  EXPECT_THROW(run.set_best({2, "bleu", std::numeric_limits<double>::quiet_NaN()}), StoreError);
  const BestStep best{.step = 2, .metric = "bleu", .value = 30.1};
  run.set_best(best);
  EXPECT_EQ(RunDirectory::open(path_).best(), best);
  run.write_text("best.json", R"({"step": "two"})");
  EXPECT_THAT([&] { run.best(); }, ThrowsMessage<StoreError>(HasSubstr("expected {\"step\"")));
}

TEST_F(Run, TextsAreReplacedAsAWhole) {
  auto run = RunDirectory::open_or_create(path_);
  run.write_text("recipe.toml", "seed = 1\n");
  run.write_text("recipe.toml", std::string("a\0b", 3));
  EXPECT_EQ(run.read_text("recipe.toml"), std::string("a\0b", 3));
  EXPECT_THAT([&] { run.read_text("tokenizer.model"); },
              ThrowsMessage<StoreError>(HasSubstr("tokenizer.model: cannot open: No such file")));
}

[[noreturn]] void train_until_killed(const std::filesystem::path& path) {
  auto run = RunDirectory::open_or_create(path);
  for (int64_t step = run.last_complete_step().value_or(0) + 1;; ++step) {
    save(run, step);
    run.set_best({.step = step - step % 4, .metric = "loss", .value = 1});
    run.prune(2);
  }
}

TEST_F(Run, AKillAtAnyInstantLeavesOnlyCompleteSteps) {
  {
    auto run = RunDirectory::open_or_create(path_);
    save(run, 0);
  }
  int64_t last = 0;
  for (int round = 0; round < 16; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        train_until_killed(path_);
      } catch (...) {
        ::_exit(1);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 23 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child gave up";
    const auto run = RunDirectory::open(path_);
    for (const int64_t step : run.steps()) expect_complete(run, step);
    ASSERT_GE(*run.last_complete_step(), last);
    last = *run.last_complete_step();
  }
  EXPECT_GT(last, 0);
}

}  // namespace
}  // namespace ballast
