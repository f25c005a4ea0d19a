#include "ballast/optim/schedules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ballast/base/error.h"

namespace ballast {
namespace {

TEST(InverseSqrt, HasTheValuesOfFairseq) {
  const Schedule lr = make_schedule(InverseSqrtOptions{.warmup = 8000}, 1e-3, 500000);
  EXPECT_NEAR(lr(0), 1e-7, 1e-18);
  EXPECT_NEAR(lr(4000), 5.0005e-4, 1e-15);
  EXPECT_NEAR(lr(8000), 1e-3, 1e-15);
  EXPECT_NEAR(lr(16000), 7.0710678118655e-4, 1e-15);
  EXPECT_NEAR(lr(500000), 1.2649110640674e-4, 1e-15);
}

TEST(InverseSqrt, IsTheNoamScheduleForItsPeak) {
  const double d_model = 512, warmup = 4000;
  const Schedule lr = make_schedule(InverseSqrtOptions{.warmup = 4000, .initial_lr = 0},
                                    1 / std::sqrt(d_model * warmup), 0);
  for (const double t : {1.0, 777.0, 4000.0, 4001.0, 90000.0}) {
    const double noam = std::min(1 / std::sqrt(t), t * std::pow(warmup, -1.5)) / std::sqrt(d_model);
    EXPECT_NEAR(lr(static_cast<int64_t>(t)), noam, 1e-15) << t;
  }
}

TEST(InverseSqrt, WithoutWarmupStartsAtThePeak) {
  const Schedule lr = make_schedule(InverseSqrtOptions{.warmup = 0}, 0.5, 100);
  EXPECT_EQ(lr(1), 0.5);
  EXPECT_EQ(lr(4), 0.25);
}

TEST(Cosine, FallsFromPeakToFinalRatio) {
  const Schedule lr = make_schedule(CosineOptions{.warmup = 100, .final_ratio = 0.1}, 2, 1100);
  EXPECT_NEAR(lr(50), 1, 1e-15);
  EXPECT_NEAR(lr(100), 2, 1e-15);
  EXPECT_NEAR(lr(350), 2 * (0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2), 1e-15);
  EXPECT_NEAR(lr(600), 1.1, 1e-15);
  EXPECT_NEAR(lr(1100), 0.2, 1e-15);
}

TEST(Linear, FallsInAStraightLine) {
  const Schedule lr = make_schedule(LinearDecayOptions{.warmup = 10, .final_ratio = 0.2}, 1, 110);
  EXPECT_NEAR(lr(10), 1, 1e-15);
  EXPECT_NEAR(lr(35), 0.8, 1e-15);
  EXPECT_NEAR(lr(110), 0.2, 1e-15);
}

TEST(Wsd, IsStableUntilTheDecayShare) {
  for (const auto& [name, shape] : EnumNames<DecayShape>::value) {
    const Schedule lr = make_schedule(WsdOptions{.warmup = 100, .shape = shape}, 1, 1000);
    EXPECT_NEAR(lr(25), 0.25, 1e-15) << name;
    EXPECT_NEAR(lr(100), 1, 1e-15) << name;
    EXPECT_NEAR(lr(900), 1, 1e-15) << name;
    EXPECT_NEAR(lr(1000), 0.1, 1e-15) << name;
  }
}

TEST(Wsd, DecaysInTheShapeChosen) {
  const auto at_quarter = [](DecayShape shape) {
    return make_schedule(WsdOptions{.final_ratio = 0.04, .shape = shape}, 1, 1000)(925);
  };
  EXPECT_NEAR(at_quarter(DecayShape::exponential), std::pow(0.04, 0.25), 1e-12);
  EXPECT_NEAR(at_quarter(DecayShape::linear), 0.04 + 0.96 * 0.75, 1e-12);
  EXPECT_NEAR(at_quarter(DecayShape::one_minus_sqrt), 0.04 + 0.96 * 0.5, 1e-12);
}

TEST(Constant, StaysAfterWarmup) {
  const Schedule lr = make_schedule(ConstantOptions{.warmup = 4}, 8, 0);
  EXPECT_EQ(lr(1), 2);
  EXPECT_EQ(lr(4), 8);
  EXPECT_EQ(lr(1000000), 8);
}

class EverySchedule : public ::testing::TestWithParam<ScheduleChoice> {};

TEST_P(EverySchedule, IsFiniteAndNeverAboveThePeak) {
  const Schedule lr = make_schedule(GetParam(), 1, 50);
  for (int64_t step = 0; step <= 60; ++step) {
    EXPECT_TRUE(lr(step) >= 0 && lr(step) <= 1) << step;
  }
}

TEST_P(EverySchedule, StaysDefinedWhenTheRunEndsInTheWarmup) {
  const Schedule lr = make_schedule(GetParam(), 1, 1);
  for (int64_t step = 0; step <= 3; ++step) {
    EXPECT_TRUE(lr(step) >= 0 && lr(step) <= 1) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EverySchedule,
                         ::testing::Values(InverseSqrtOptions{}, InverseSqrtOptions{.warmup = 0},
                                           CosineOptions{}, CosineOptions{.warmup = 10},
                                           LinearDecayOptions{.warmup = 10}, WsdOptions{},
                                           WsdOptions{.warmup = 10, .decay_share = 1},
                                           ConstantOptions{}, ConstantOptions{.warmup = 10}));

TEST(Schedules, StepsBeyondTheEndKeepTheLastValue) {
  const std::vector<ScheduleChoice> ending{CosineOptions{.warmup = 10},
                                           LinearDecayOptions{.warmup = 90}, WsdOptions{},
                                           LinearDecayOptions{.warmup = 200}};
  for (const ScheduleChoice& choice : ending) {
    const Schedule lr = make_schedule(choice, 1, 100);
    EXPECT_EQ(lr(101), lr(100)) << info_of(choice).name;
    EXPECT_EQ(lr(100000), lr(100)) << info_of(choice).name;
  }
}

TEST(Schedules, TheLastUpdateOfADecayToZeroIsOne) {
  constexpr int64_t steps = 100;
  const double straight = 1.0 / (steps - 10 + 1);
  EXPECT_NEAR(make_schedule(LinearDecayOptions{.warmup = 10}, 1, steps)(steps), straight, 1e-15);
  EXPECT_NEAR(make_schedule(LinearDecayOptions{.warmup = 10}, 1, steps)(10), 1, 1e-15);
  const std::vector<ScheduleChoice> to_zero{
      LinearDecayOptions{}, CosineOptions{.final_ratio = 0},
      WsdOptions{.final_ratio = 0, .shape = DecayShape::linear},
      WsdOptions{.final_ratio = 0, .shape = DecayShape::one_minus_sqrt}};
  for (const ScheduleChoice& choice : to_zero) {
    const Schedule lr = make_schedule(choice, 1, steps);
    EXPECT_GT(lr(steps), 1e-4) << info_of(choice).name;
    EXPECT_LT(lr(steps), lr(steps - 1)) << info_of(choice).name;
  }
}

TEST(Schedules, WhatCannotEndIsRefused) {
  EXPECT_THROW(make_schedule(CosineOptions{}, 1, 0), RecipeError);
  EXPECT_THROW(make_schedule(LinearDecayOptions{}, 1, 0), RecipeError);
  EXPECT_THROW(make_schedule(WsdOptions{}, 1, 0), RecipeError);
  EXPECT_THROW(make_schedule(WsdOptions{.final_ratio = 0}, 1, 100), RecipeError);
}

}  // namespace
}  // namespace ballast
