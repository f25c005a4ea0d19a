#include "ballast/train/log.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "ballast/base/error.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Log : public ::testing::Test {
 protected:
  void train(int64_t from, int64_t to) {
    RunLog log(path_, from);
    for (int64_t step = from + 1; step <= to; ++step) {
      log.append(step, {{"loss", 1.0 / static_cast<double>(step)}, {"lr", 1e-3}});
      if (step % 2 == 0) log.append(step, {{"validation_loss", 0.1 * static_cast<double>(step)}});
    }
    log.sync();
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "log.jsonl";
};

TEST_F(Log, IsOneObjectALineWithTheStepFirst) {
  RunLog log(path_, 0);
  log.append(3, {{"loss", 0.1}, {"at", "caf\xc3\xa9\n"}});
  EXPECT_EQ(read_file(path_), "{\"step\":3,\"loss\":0.1,\"at\":\"caf\xc3\xa9\\n\"}\n");
}

TEST_F(Log, WritesNullForWhatIsNotFinite) {
  RunLog log(path_, 0);
  log.append(1, {{"loss", std::nan("")}, {"norm", INFINITY}});
  EXPECT_EQ(read_file(path_), "{\"step\":1,\"loss\":null,\"norm\":null}\n");
}

TEST_F(Log, OfAResumedRunEqualsThatOfAnUninterruptedOne) {
  train(0, 10);
  const auto uninterrupted = read_file(path_);
  std::filesystem::remove(path_);
  train(0, 7);
  train(4, 8);
  train(8, 10);
  EXPECT_EQ(read_file(path_), uninterrupted);
}

TEST_F(Log, OfAFreshRunDropsWhatAnEarlierOneWrote) {
  train(0, 3);
  train(0, 1);
  EXPECT_EQ(read_file(path_), "{\"step\":1,\"loss\":1.0,\"lr\":0.001}\n");
}

TEST_F(Log, DropsALastLineThatAKillCutOffAnywhere) {
  train(0, 2);
  const auto whole = read_file(path_);
  const auto last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t size = last_line; size < whole.size(); ++size) {
    write_file(path_, whole.substr(0, size));
    RunLog log(path_, 2);
    EXPECT_EQ(read_file(path_), whole.substr(0, last_line)) << size;
  }
}

TEST_F(Log, RefusesALineThatIsNoRecordByItsNumber) {
  for (const auto* line : {"oops", "[1]", "{}", "{\"step\":1.5}", ""}) {
    write_file(path_, std::string("{\"step\":1}\n") + line + "\n{\"step\":2}\n");
    EXPECT_THAT([this] { RunLog(path_, 9); },
                ThrowsMessage<StoreError>(HasSubstr("jsonl:2: is not")));
  }
}

}  // namespace
}  // namespace ballast
