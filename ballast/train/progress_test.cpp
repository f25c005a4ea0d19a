#include "ballast/train/progress.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(HumanDuration, HasTheTwoLargestUnits) {
  EXPECT_EQ(human_duration(0), "0.0 s");
  EXPECT_EQ(human_duration(0.44), "0.4 s");
  EXPECT_EQ(human_duration(9.97), "10 s");
  EXPECT_EQ(human_duration(59.6), "1 min");
  EXPECT_EQ(human_duration(200), "3 min 20 s");
  EXPECT_EQ(human_duration(3599.7), "1 h");
  EXPECT_EQ(human_duration(2 * 3600 + 5 * 60 + 59), "2 h 5 min");
  EXPECT_EQ(human_duration(3600 + 59), "1 h");
  EXPECT_EQ(human_duration(4 * 86400 + 3 * 3600 + 1), "4 d 3 h");
}

TEST(HumanDuration, IsAQuestionMarkForWhatIsNone) {
  EXPECT_EQ(human_duration(-1), "?");
  EXPECT_EQ(human_duration(std::nan("")), "?");
  EXPECT_EQ(human_duration(INFINITY), "?");
  EXPECT_EQ(human_duration(1e300), "?");
}

TEST(HumanCount, HasThreeDigits) {
  EXPECT_EQ(human_count(0), "0.00");
  EXPECT_EQ(human_count(7.5), "7.50");
  EXPECT_EQ(human_count(9.996), "10.0");
  EXPECT_EQ(human_count(99.96), "100");
  EXPECT_EQ(human_count(930.2), "930");
  EXPECT_EQ(human_count(999.6), "1.00k");
  EXPECT_EQ(human_count(12345), "12.3k");
  EXPECT_EQ(human_count(4.56e6), "4.56M");
  EXPECT_EQ(human_count(1e21), "1000000P");
  EXPECT_EQ(human_count(std::nan("")), "?");
}

TEST(ProgressLine, TellsWhereATrainingStands) {
  const ProgressPoint point{.step = 800, .tokens = 1, .seconds = 2, .loss = 4.32109, .lr = 7.1e-4};
  EXPECT_EQ(progress_line(point, 10000, {.tokens_per_second = 12345, .steps_per_second = 46}),
            "step 800/10000 | 12.3k tokens/s | loss 4.321 | lr 7.1e-04 | 3 min 20 s left");
}

TEST(ProgressLine, KnowsNoTimeLeftBeforeThereIsARate) {
  EXPECT_THAT(progress_line({.step = 1}, 10, {}), EndsWith("| ? left"));
}

ProgressPoint point_at(double seconds, int64_t step) {
  return {.step = step, .tokens = 100 * step, .seconds = seconds, .loss = 1, .lr = 1};
}

TEST(Progress, RewritesOneLineOnATerminal) {
  std::ostringstream out;
  {
    Progress progress(out, Terminal::yes, 100);
    progress.show(point_at(0, 1));
    progress.show(point_at(0.05, 2));
    progress.show(point_at(1, 3));
    progress.note("saved step 3");
    progress.show(point_at(2, 4));
  }
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("\r\x1b[Kstep 1/100"), Not(HasSubstr("step 2/100")),
                    HasSubstr("\r\x1b[Kstep 3/100 | 200 tokens/s"),
                    HasSubstr("\r\x1b[Ksaved step 3\n\r\x1b[Kstep 4/100"), EndsWith("left\n")));
}

TEST(Progress, WritesPlainLinesNowAndThenElsewhere) {
  std::ostringstream out;
  {
    Progress progress(out, Terminal::no, 45);
    for (int64_t step = 1; step <= 45; ++step)
      progress.show(point_at(static_cast<double>(step), step));
    progress.note("done");
  }
  EXPECT_EQ(out.str(),
            "step 1/45 | 0.00 tokens/s | loss 1 | lr 1.0e+00 | ? left\n"
            "step 31/45 | 100 tokens/s | loss 1 | lr 1.0e+00 | 14 s left\n"
            "step 45/45 | 100 tokens/s | loss 1 | lr 1.0e+00 | 0.0 s left\n"
            "done\n");
}

TEST(Progress, TakesTheRateOfTheLastMinute) {
  std::ostringstream out;
  Progress progress(out, Terminal::no, 1000);
  for (int64_t step = 1; step <= 100; ++step)
    progress.show(point_at(0.001 * static_cast<double>(step), step));
  progress.show(point_at(85, 105));
  progress.show(point_at(150, 170));
  EXPECT_THAT(out.str(),
              EndsWith("step 170/1000 | 100 tokens/s | loss 1 | lr 1.0e+00 | 13 min 50 s left\n"));
}

}  // namespace
}  // namespace ballast
