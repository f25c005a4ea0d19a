#include "ballast/train/stability_guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "ballast/base/philox.h"

namespace ballast {
namespace {

using Kind = Verdict::Kind;
using Curve = std::function<double(int64_t step)>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double log_vocabulary = 9.0;  // the loss of a model that knows nothing

/// Standard normal noise that depends on the step alone (Box-Muller).
double noise(int64_t step) {
  const auto bits = philox(7, static_cast<uint64_t>(step));
  const double radius = open_uniform(uint64_t{bits[0]} << 32 | bits[1]);
  const double angle = open_uniform(uint64_t{bits[2]} << 32 | bits[3]);
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * angle);
}

/// A healthy run: from ln V down to 3, first fast, then slowly.
double falling(int64_t step) {
  return 3 + (log_vocabulary - 3) * std::exp(-static_cast<double>(step) / 600);
}

/// First step of 1..steps at which the run counts as diverged, 0 when it never does.
int64_t diverged_at(const Curve& loss, int64_t steps = 6000) {
  StabilityGuard guard;
  for (int64_t step = 1; step <= steps; ++step) {
    if (guard.observe(step, loss(step), 1).kind == Kind::diverged) return step;
  }
  return 0;
}

/// The healthy run with something added from step `begin` until before step `end`.
Curve disturbed(int64_t begin, int64_t end, const Curve& by) {
  return [=](int64_t step) {
    const bool during = step >= begin && step < end;
    return falling(step) + 0.1 * noise(step) + (during ? by(step - begin) : 0);
  };
}

const Curve nothing = [](int64_t) { return 0.0; };

TEST(StabilityGuard, NoisyFallingLossIsFine) {
  EXPECT_EQ(diverged_at(disturbed(0, 0, nothing), 20000), 0);
  for (const double size : {0.0, 0.001, 0.5, 2.0}) {
    EXPECT_EQ(diverged_at([=](int64_t t) { return falling(t) + size * noise(t); }, 20000), 0);
  }
}

TEST(StabilityGuard, HeavyTailedNoiseIsFine) {
  EXPECT_EQ(diverged_at([](int64_t t) { return falling(t) + 0.1 * std::pow(noise(t), 3); }, 20000),
            0);
}

TEST(StabilityGuard, SlowWavesOfTheDataAreFine) {
  const auto wave = [](int64_t t) { return 0.1 * std::sin(static_cast<double>(t) / 200); };
  EXPECT_EQ(diverged_at([&](int64_t t) { return falling(t) + wave(t) + 0.002 * noise(t); }, 20000),
            0);
}

TEST(StabilityGuard, RoughStartIsFine) {
  EXPECT_EQ(diverged_at([](int64_t t) { return falling(t) + (t < 150 ? 20 : 0) + 0.1 * noise(t); }),
            0);
}

TEST(StabilityGuard, SpikesThatRecoverAreFine) {
  EXPECT_EQ(diverged_at(disturbed(3000, 3001, [](int64_t) { return 1e30; })), 0);
  EXPECT_EQ(diverged_at(disturbed(3000, 3100, [](int64_t) { return 6.0; })), 0);
  EXPECT_EQ(diverged_at(disturbed(3000, 6000, [](int64_t t) { return 5 * std::exp(-t / 40.0); })),
            0);
  EXPECT_EQ(diverged_at(disturbed(300, 6000, [](int64_t t) { return t % 500 < 60 ? 3.0 : 0; })), 0);
}

TEST(StabilityGuard, JumpToIgnoranceThatStaysIsDivergence) {
  for (const int64_t begin : {400, 1000, 3000}) {
    const Curve jump = [=](int64_t t) { return log_vocabulary - falling(begin + t); };
    const int64_t step = diverged_at(disturbed(begin, 6000, jump));
    EXPECT_GE(step, begin + 199) << begin;
    EXPECT_LE(step, begin + 210) << begin;
  }
}

TEST(StabilityGuard, SteadyGrowthIsDivergence) {
  for (const double slope : {0.001, 0.01, 1.0}) {
    const int64_t step = diverged_at(disturbed(3000, 6000, [=](int64_t t) { return slope * t; }));
    EXPECT_GT(step, 3200) << slope;
    EXPECT_LT(step, 3210 + 1.5 / slope) << slope;
  }
}

TEST(StabilityGuard, OneNonFiniteStepIsSkipped) {
  StabilityGuard guard;
  guard.observe(1, 5, 1);
  const StabilityState before = guard.state();
  const Verdict verdict = guard.observe(2, 5, std::numeric_limits<double>::infinity());
  EXPECT_EQ(verdict.kind, Kind::skip);
  EXPECT_NE(verdict.reason.find("step 2: loss 5 and gradient norm inf"), std::string::npos);
  EXPECT_EQ(guard.state().fast, before.fast);
  EXPECT_EQ(guard.state().slow, before.slow);
  EXPECT_EQ(guard.observe(3, 5, 1).kind, Kind::ok);
}

TEST(StabilityGuard, NonFiniteStepsInARowAreDivergence) {
  EXPECT_EQ(diverged_at([](int64_t t) { return t < 50 ? 5.0 : nan; }), 59);
  EXPECT_EQ(diverged_at([](int64_t t) { return t % 10 != 0 ? nan : 5.0; }), 0);
}

TEST(StabilityGuard, ReasonNamesStepAndLosses) {
  StabilityGuard guard({.patience = 2, .warmup = 5});
  Verdict verdict;
  for (int64_t step = 1; step <= 12; ++step) verdict = guard.observe(step, step < 10 ? 1 : 4, 1);
  EXPECT_EQ(verdict.kind, Kind::diverged);
  EXPECT_NE(verdict.reason.find("step 12"), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("usual 1"), std::string::npos) << verdict.reason;
}

TEST(StabilityGuard, ResumedGuardJudgesLikeTheWholeOne) {
  const Curve curve = disturbed(900, 6000, [](int64_t) { return 5.0; });
  const int64_t whole = diverged_at(curve);
  ASSERT_GT(whole, 1000);
  StabilityGuard first;
  for (int64_t step = 1; step <= 1000; ++step) first.observe(step, curve(step), 1);
  StabilityGuard second;
  second.load_state(first.state());
  for (int64_t step = 1001; step <= whole; ++step) {
    EXPECT_EQ(second.observe(step, curve(step), 1).kind == Kind::diverged, step == whole);
    first.observe(step, curve(step), 1);
    EXPECT_EQ(first.state(), second.state());
  }
}

}  // namespace
}  // namespace ballast
