#include "ballast/train/rehearse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ballast {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> steps_of(int64_t updates, int64_t warmup) {
  std::vector<int64_t> all;
  for (int64_t i = 1; i <= updates; ++i) all.push_back(rehearsed_step(i, updates, warmup));
  return all;
}

TEST(RehearsedSteps, AreThoseOfTheTrainingWhereTheWarmupIsShort) {
  EXPECT_THAT(steps_of(6, 0), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(steps_of(6, 2), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(RehearsedSteps, ClimbALongWarmupInHalfOfTheUpdates) {
  EXPECT_THAT(steps_of(6, 299), ElementsAre(100, 200, 300, 301, 302, 303));
  EXPECT_THAT(steps_of(4, 4), ElementsAre(3, 5, 6, 7));
}

}  // namespace
}  // namespace ballast
