#include "ballast/parameterization/mup_kinds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/parameterization/parameterization.h"

namespace ballast {
namespace {

/// Four times the base width of 256, and 32 blocks.
ResidualSite site(Sublayer kind = Sublayer::feed_forward) {
  return {.stack = Stack::decoder, .kind = kind, .decoder_layers = 32, .d_model = 1024};
}

const ParameterFacts hidden{.role = Role::query, .fan_in = 1024, .fan_out = 1024, .site = site()};
const ParameterFacts table{.role = Role::target_embedding, .fan_in = 1024, .fan_out = 5000};
const ParameterFacts output{.role = Role::output, .fan_in = 1024, .fan_out = 5000};
const ParameterFacts bias{.role = Role::bias, .fan_in = 1024, .fan_out = 1024, .site = site()};
const ParameterFacts final_norm{.role = Role::norm_gain, .fan_in = 1024};

double lr(const ParameterizationChoice& row, const ParameterFacts& facts,
          UpdateSize update = UpdateSize::adaptive) {
  return scaling_of(row, facts, 0.1, update).lr_scale;
}

// METHODS 2.6, the table of muP (microsoft/mup): Adam.
TEST(Mup, AdamsRatesAreThoseOfItsTable) {
  EXPECT_EQ(lr(Mup{}, hidden), 0.25);
  for (const ParameterFacts& each : {table, output, bias, final_norm}) {
    EXPECT_EQ(lr(Mup{}, each), 1);
  }
}

// The same table: SGD.
TEST(Mup, SgdsRatesAreThoseOfItsTable) {
  EXPECT_EQ(lr(Mup{}, hidden, UpdateSize::gradient), 1);
  for (const ParameterFacts& each : {table, output, bias, final_norm}) {
    EXPECT_EQ(lr(Mup{}, each, UpdateSize::gradient), 4);
  }
}

TEST(Mup, AnOutputBiasIsAsLongAtEveryWidthSoSgdMovesItAlike) {
  const ParameterFacts of_output{.role = Role::bias, .fan_in = 1024, .fan_out = 5000};
  EXPECT_EQ(lr(Mup{}, of_output, UpdateSize::gradient), 1);
}

// A matrix of full rank and rms u has the spectral norm 2 sqrt(n) u: an update of 0.2 in each
// element (Moonlight) doubles it where the width is four times as large.
TEST(Mup, MuonsRateFollowsTheSpectralNormOfItsUpdate) {
  EXPECT_EQ(lr(Mup{}, hidden, UpdateSize::spectral), 1);
  EXPECT_EQ(lr(Mup{}, hidden, UpdateSize::full_rank), 0.5);
}

TEST(Mup, RatesInProportionToWeightsNeedOnlyTheRootForTheseShrinkToo) {
  EXPECT_EQ(lr(Mup{}, hidden, UpdateSize::weight), 0.5);
  EXPECT_EQ(lr(Mup{}, table, UpdateSize::weight), 1);
}

TEST(Mup, WhatDecaysInAStepIsThatOfTheBaseModel) {
  for (const UpdateSize update : {UpdateSize::adaptive, UpdateSize::gradient, UpdateSize::weight}) {
    for (const ParameterFacts& each : {hidden, table, output}) {
      const Scaling scaling = scaling_of(Mup{}, each, 0.1, update);
      EXPECT_EQ(scaling.lr_scale * scaling.decay_scale, 1);
    }
  }
}

TEST(Mup, MatricesShrinkFromTheBaseModelsStdAndTablesKeepIt) {
  EXPECT_EQ(scaling_of(Mup{}, hidden, 0.1, UpdateSize::adaptive).init_std, 0.05);
  EXPECT_EQ(scaling_of(Mup{}, table, 0.1, UpdateSize::adaptive).init_std, 0.1);
  const ParameterFacts of_base = basis_of(Mup{}, hidden), table_of_base = basis_of(Mup{}, table);
  EXPECT_EQ(of_base.fan_in, 256);
  EXPECT_EQ(of_base.fan_out, 256);
  EXPECT_EQ(of_base.site->d_model, 256);
  EXPECT_EQ(table_of_base.fan_in, 256);
  EXPECT_EQ(table_of_base.fan_out, 5000);
}

// METHODS 2.6: 8/d_k where the base model's d_k is 64.
TEST(Mup, FactorsAreThoseOfItsTable) {
  const Mup grown{.base_head_size = 64};
  EXPECT_DOUBLE_EQ(factor_of(grown, {Point::scores, 256}), 8.0 / 256);
  EXPECT_DOUBLE_EQ(factor_of(Mup{}, {Point::scores, 64}), 1.0 / 8);
  EXPECT_EQ(factor_of(Mup{.output_multiplier = 3}, {Point::logits, 1024}), 0.75);
  EXPECT_EQ(factor_of(Mup{}, {Point::token, 1024}), 16);
  EXPECT_EQ(factor_of(Mup{}, {Point::branch, 1024, site()}), 1);
}

TEST(Mup, AtTheBaseEveryRowIsStandard) {
  for (const ParameterizationChoice& row : std::initializer_list<ParameterizationChoice>{
           Mup{.base_width = 1024}, DepthMup{.base_width = 1024, .base_depth = 32},
           CompleteP{.base_width = 1024, .base_depth = 32}}) {
    for (const UpdateSize update :
         {UpdateSize::adaptive, UpdateSize::gradient, UpdateSize::spectral, UpdateSize::weight,
          UpdateSize::full_rank}) {
      for (const ParameterFacts& each : {hidden, table, output, bias, final_norm}) {
        EXPECT_EQ(scaling_of(row, each, 0.1, update), scaling_of(Standard{}, each, 0.1, update));
      }
    }
    for (const Point point :
         {Point::scores, Point::token, Point::logits, Point::lane, Point::branch}) {
      const FactorFacts facts{point, 1024, site()};
      EXPECT_EQ(factor_of(row, facts), factor_of(Standard{}, facts));
    }
  }
}

// METHODS 2.6: a branch times 1/sqrt(L), Adam's rates too, SGD's as they were.
TEST(DepthMup, HasThePublishedFactors) {
  const DepthMup row{};
  EXPECT_DOUBLE_EQ(factor_of(row, {Point::branch, 1024, site()}), 1 / std::sqrt(32));
  EXPECT_EQ(factor_of(row, {Point::lane, 1024, site()}), 1);
  EXPECT_DOUBLE_EQ(lr(row, hidden), 0.25 / std::sqrt(32));
  EXPECT_EQ(lr(row, hidden, UpdateSize::gradient), 1);
  EXPECT_EQ(lr(row, table), 1);
}

// METHODS 2.6, the table of CompleteP, with m_N = 4 and m_L = 16.
TEST(CompleteP, HasThePublishedTable) {
  const CompleteP row{};
  EXPECT_EQ(factor_of(row, {Point::branch, 1024, site()}), 1.0 / 16);
  EXPECT_EQ(scaling_of(row, hidden, 0.1, UpdateSize::adaptive),
            (Scaling{1, 0.05, 0.25, 4, 1.0 / 64}));
  EXPECT_EQ(scaling_of(row, bias, 0, UpdateSize::adaptive), (Scaling{1, 0, 1, 1, 1.0 / 64}));
  EXPECT_EQ(scaling_of(row, table, 0.1, UpdateSize::adaptive), (Scaling{1, 0.1, 1, 1, 0.25}));
  EXPECT_EQ(scaling_of(row, final_norm, 0, UpdateSize::adaptive), (Scaling{1, 0, 1, 1, 0.25}));
  const CompleteP lazy{.alpha = 0.5};
  EXPECT_EQ(factor_of(lazy, {Point::branch, 1024, site()}), 0.25);
  EXPECT_EQ(lr(lazy, hidden), 0.25 / 4);
  EXPECT_EQ(lr(lazy, bias), 0.25);
  EXPECT_EQ(lr(lazy, final_norm), 1);
}

TEST(CompleteP, WithAlphaOneHalfIsDepthMup) {
  const DepthMup deep{.base_depth = 2};
  const CompleteP complete{.alpha = 0.5};
  for (const ParameterFacts& each : {hidden, table, output, bias, final_norm}) {
    EXPECT_EQ(scaling_of(deep, each, 0.1, UpdateSize::adaptive),
              scaling_of(complete, each, 0.1, UpdateSize::adaptive));
  }
}

}  // namespace
}  // namespace ballast
