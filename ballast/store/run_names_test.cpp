#include "ballast/store/run_names.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "ballast/base/error.h"
#include "ballast/store/run_directory.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

void put(const std::filesystem::path& path) { std::ofstream(path) << "the user's"; }

class RunNames : public ::testing::Test {
 protected:
  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "runs/first";
};

TEST_F(RunNames, D01AFolderOfTheUserLosesNothing) {
  std::filesystem::create_directories(path_ / "step-00000003.partial/notes");
  put(path_ / "corpus.gz.partial");
  put(path_ / "recipe.toml.partial");
  put(path_ / "train.tokens.12.draft");
  put(path_ / "step-00000003.partial/model.safetensors");
  {
    auto run = RunDirectory::open_or_create(path_);
    EXPECT_THAT(names_in(path_), ElementsAre("corpus.gz.partial", "lock", "recipe.toml.partial",
                                             "step-00000003.partial", "train.tokens.12.draft"));
  }
  EXPECT_TRUE(std::filesystem::exists(path_ / "step-00000003.partial/model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(path_ / "lock"));
}

TEST_F(RunNames, D01ARunLosesOnlyWhatItsWritersLeft) {
  { RunDirectory::open_or_create(path_).write_text("recipe.toml", ""); }
  std::filesystem::create_directories(path_ / "step-00000003.partial");
  std::filesystem::create_directories(path_ / "other.partial");
  std::filesystem::create_directory(directory_ / "elsewhere");
  put(directory_ / "elsewhere/model.safetensors");
  std::filesystem::create_directory_symlink(directory_ / "elsewhere",
                                            path_ / "step-00000004.partial");
  for (const auto* name :
       {"step-00000003.partial/model.safetensors", "step-00000003.partial/state.json.partial",
        "step-00000003.partial/notes.txt", "best.json.partial", "log.jsonl.1.partial",
        "train.tokens.4711.draft", "corpus.gz.partial", "step-5.partial", "my.recipe.toml.partial",
        "notes.4711.draft"}) {
    put(path_ / name);
  }
  auto run = RunDirectory::open_or_create(path_);
  EXPECT_THAT(names_in(path_),
              ElementsAre("corpus.gz.partial", "lock", "my.recipe.toml.partial", "notes.4711.draft",
                          "other.partial", "recipe.toml", "step-00000003.partial",
                          "step-00000004.partial", "step-5.partial"));
  EXPECT_THAT(names_in(path_ / "step-00000003.partial"), ElementsAre("notes.txt"));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "elsewhere/model.safetensors"));
  run.save_step(3, {}, {}, {{"step", 3}});
  run.save_step(4, {}, {}, {{"step", 4}});
  EXPECT_THAT(run.steps(), ElementsAre(3, 4));
  EXPECT_THAT(names_in(path_ / "step-00000003.partial"), ElementsAre("notes.txt"));
}

TEST_F(RunNames, D01PruningLeavesWhatAUserPutBesideAStep) {
  auto run = RunDirectory::open_or_create(path_);
  for (const int64_t step : {1, 2}) run.save_step(step, {}, {}, {{"step", step}});
  put(path_ / "step-00000001/notes.txt");
  run.prune(1);
  EXPECT_THAT(run.steps(), ElementsAre(2));
  EXPECT_THAT(names_in(path_ / "step-00000001.partial"), ElementsAre("notes.txt"));
}

TEST_F(RunNames, D01FilesUnderOurNamesThatAreNotOursAreNotWrittenOver) {
  std::filesystem::create_directories(path_);
  put(path_ / "recipe.toml");
  EXPECT_THAT([this] { RunDirectory::open_or_create(path_); },
              ThrowsMessage<StoreError>(AllOf(HasSubstr(path_.string()), HasSubstr("is not a run"),
                                              HasSubstr("recipe.toml"))));
  EXPECT_THAT(names_in(path_), ElementsAre("recipe.toml"));
}

TEST_F(RunNames, RunsOfEarlierVersionsAndCopiesWithoutALockAreRuns) {
  std::filesystem::create_directories(path_ / "step-00000004");
  put(path_ / "recipe.toml");
  EXPECT_EQ(RunDirectory::open_or_create(path_).last_complete_step(), 4);
  std::filesystem::remove_all(path_ / "step-00000004");
  std::ofstream(path_ / "lock").close();
  EXPECT_NO_THROW(RunDirectory::open_or_create(path_));
}

TEST_F(RunNames, D10ADirectoryInWhichNothingWasMadeGoesAgain) {
  { const auto run = RunDirectory::open_or_create(path_); }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "runs"));
  std::filesystem::create_directories(path_);
  put(path_ / "notes");
  { const auto run = RunDirectory::open_or_create(path_); }
  EXPECT_THAT(names_in(path_), ElementsAre("notes"));
  { RunDirectory::open_or_create(path_).write_text("recipe.toml", ""); }
  EXPECT_THAT(names_in(path_), ElementsAre("lock", "notes", "recipe.toml"));
}

}  // namespace
}  // namespace ballast
