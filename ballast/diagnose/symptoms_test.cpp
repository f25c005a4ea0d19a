#include "ballast/diagnose/symptoms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ballast/diagnose/rehearsal.h"

namespace ballast {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr, ::testing::IsEmpty;

const Gauge& gauge_of(const SymptomRow& row) {
  for (const Gauge& each : gauges()) {
    if (each.quantity == row.quantity && each.point == row.point) return each;
  }
  throw std::logic_error("a symptom of what no gauge shows");
}

/// A gauge at one place, so that its extremes are its value.
Sample sample(int64_t step, const Gauge& gauge, double value) {
  return {step, {{&gauge, value, value, "here", "here"}}};
}

class SymptomRows : public ::testing::TestWithParam<const SymptomRow*> {
 protected:
  const SymptomRow& row_ = *GetParam();
  const Gauge& gauge_ = gauge_of(row_);
  const bool above_ = row_.side == SymptomRow::Side::above;
  const double toward_ = above_ ? 1 : -1;

  /// A value whose distance from the limit is a factor, on the far side of it for factors above 1.
  double at(double factor) const {
    if (std::isinf(row_.limit)) return factor > 1 ? INFINITY : 1e30;
    return row_.limit * std::pow(factor, toward_);
  }
};

TEST_P(SymptomRows, BeginsAtTheFirstSampleBeyondItsLimit) {
  const double before = at(1 / row_.growth / 1.5), beyond = at(1.01);
  const std::vector<Symptom> found =
      symptoms({sample(1, gauge_, before), sample(100, gauge_, at(0.99)),
                sample(200, gauge_, beyond), sample(300, gauge_, at(2))});
  ASSERT_THAT(found, ::testing::Contains(::testing::Field(&Symptom::row, &row_)));
  for (const Symptom& each : found) {
    if (each.row != &row_) continue;
    EXPECT_EQ(each.step, 200);
    EXPECT_EQ(each.evidence.measured, beyond);
    EXPECT_EQ(each.evidence.expected, before);
    EXPECT_EQ(each.evidence.where, "here");
  }
}

TEST_P(SymptomRows, IsNoneWhereTheModelBeganLikeThat) {
  if (std::isinf(row_.limit)) return;  // what is not finite at first is a symptom
  const double value = at(1.5);
  EXPECT_THAT(symptoms({sample(1, gauge_, value), sample(100, gauge_, value)}), IsEmpty());
}

TEST_P(SymptomRows, HasARemedy) {
  EXPECT_THAT(row_.remedy({.peak_lr = 1e-3, .warmup = 10}), ::testing::Not(IsEmpty()));
}

std::vector<const SymptomRow*> all_rows() {
  std::vector<const SymptomRow*> all;
  for (const SymptomRow& each : symptom_rows()) all.push_back(&each);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, SymptomRows, ::testing::ValuesIn(all_rows()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(Symptoms, StandInTheOrderOfTheirSteps) {
  const Gauge& logit = gauge_of(symptom_rows()[0]);
  const Gauge& entropy = gauge_of(symptom_rows()[1]);
  const auto both = [&](int64_t step, double largest, double smallest) {
    return Sample{step, {{&logit, 0, largest, "", "a"}, {&entropy, smallest, 1, "b", ""}}};
  };
  const History history = {both(1, 2, 0.9), both(100, 3, 0.05), both(200, 80, 0.04)};
  const std::vector<Symptom> found = symptoms(history);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].row->name, "attention_collapses");
  EXPECT_EQ(found[1].row->name, "attention_logits_grow");
  EXPECT_THAT(post_mortem(history, {.peak_lr = 1e-3}),
              HasSubstr("step 100    attention_collapses at b: 0.05, at first 0.9"));
}

TEST(Symptoms, AHistoryWithoutOneIsSaidToBe) {
  const History history = {sample(1, gauges()[0], 1), sample(2, gauges()[0], 1.1)};
  EXPECT_THAT(post_mortem(history, {.peak_lr = 1e-3, .warmup = 50}),
              HasSubstr("no instrument left its range in 2 samples"));
  EXPECT_THAT(post_mortem(history, {.peak_lr = 1e-3, .warmup = 50}),
              HasSubstr("--set optimizer.lr=0.00025, or --set schedule.warmup=200"));
}

Rehearsal with(std::vector<double> losses) { return {.losses = std::move(losses)}; }

TEST(Rehearsals, DivergeWhereTheLossStaysAboveItsLowest) {
  EXPECT_FALSE(diverged(with({7, 6, 5, 4})));
  EXPECT_FALSE(diverged(with({7, 5, 9, 5.4})));  // a spike that passes
  EXPECT_TRUE(diverged(with({7, 5, 5.2, 5.6})));
  EXPECT_TRUE(diverged(with({7, 6, NAN})));
  EXPECT_TRUE(diverged(with({})));
}

TEST(Rehearsals, AreReadByAveragesOfATenth) {
  std::vector<double> losses(20, 3);
  losses[4] = 1;  // with its neighbour 2
  losses[19] = 5;
  const RehearsedLoss loss = rehearsed_loss(with(losses));
  EXPECT_EQ(loss.first, 3);
  EXPECT_EQ(loss.lowest, 2);
  EXPECT_EQ(loss.last, 4);
  losses[15] = INFINITY;
  EXPECT_EQ(rehearsed_loss(with(losses)).lowest, 2);
  EXPECT_TRUE(std::isnan(rehearsed_loss(with(losses)).last));
}

}  // namespace
}  // namespace ballast
