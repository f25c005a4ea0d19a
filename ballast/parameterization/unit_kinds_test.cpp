#include "ballast/parameterization/unit_kinds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/parameterization/parameterization.h"

namespace ballast {
namespace {

ResidualSite third_of_four() {
  return {.stack = Stack::decoder,
          .kind = Sublayer::self_attention,
          .index = 2,
          .count = 4,
          .layer = 1,
          .decoder_layers = 2,
          .d_model = 64};
}

// r = 2, rho = 1/2: w_f = 2 sqrt(2 / 1.25), w_f^2 = 6.4, w_a^2 = 1.6; before the third of four
// connections one of each, so t^2 = 1.6 / (2 + 1.6 + 6.4) = 0.16.
TEST(UnitMup, WeighsConnectionsAsThePaperSays) {
  const UnitMup row{.residual = 2, .residual_attention = 0.5};
  EXPECT_NEAR(row.ratio(third_of_four()), 0.4, 1e-12);
  EXPECT_NEAR(row.factor({Point::branch, 64, third_of_four()}), 0.4 / std::sqrt(1.16), 1e-12);
  EXPECT_NEAR(row.factor({Point::lane, 64, third_of_four()}), 1 / std::sqrt(1.16), 1e-12);
}

// With x and all f of second moment 1 and uncorrelated, x' has 1 again. The shares of what enters
// the stack, 1/(1 + t^2), telescope to (L/2) / (L/2 + sum of w^2), and w_a^2 + w_f^2 = 2 r^2.
TEST(UnitMup, LeavesTheStackTheShareOfItsInputThatRAsksForAtAnyDepth) {
  for (const int layers : {1, 6, 50}) {
    const UnitMup row{.residual = 3, .residual_attention = 0.7};
    double share = 1;
    for (int i = 0; i < 2 * layers; ++i) {
      const auto kind = i % 2 == 0 ? Sublayer::self_attention : Sublayer::feed_forward;
      const ResidualSite site{.stack = Stack::decoder,
                              .kind = kind,
                              .index = i,
                              .count = 2 * layers,
                              .layer = i / 2,
                              .decoder_layers = layers};
      const double a = row.factor({Point::lane, 64, site}),
                   b = row.factor({Point::branch, 64, site});
      EXPECT_NEAR(a * a + b * b, 1, 1e-12);
      share *= a * a;
    }
    EXPECT_NEAR(share, 1 / (1 + 2 * 9.0), 1e-12) << layers;
  }
}

TEST(UnitMup, StoresOnesAndScalesByFanIn) {
  const ParameterFacts matrix{.role = Role::feed_forward_out,
                              .fan_in = 256,
                              .fan_out = 64,
                              .site = third_of_four(),
                              .gain = 0.5};
  const Scaling scaling = scaling_of(UnitMup{}, matrix, 0.02, UpdateSize::adaptive);
  EXPECT_EQ(scaling.init_std, 1);
  EXPECT_EQ(scaling.multiplier, 0.5 / 16);
  EXPECT_DOUBLE_EQ(scaling.lr_scale, 1.0 / 16 / std::sqrt(2));
  const ParameterFacts table{.role = Role::target_embedding, .fan_in = 64, .fan_out = 5000};
  EXPECT_EQ(scaling_of(UnitMup{}, table, 0.02, UpdateSize::adaptive), (Scaling{1, 1, 1.0 / 8}));
  const ParameterFacts drawn_vector{.role = Role::position_bias, .fan_in = 4};
  EXPECT_EQ(scaling_of(UnitMup{}, drawn_vector, 0.02, UpdateSize::adaptive).init_std, 0.02);
  EXPECT_EQ(factor_of(UnitMup{}, {Point::logits, 64}), 1.0 / 64);
  EXPECT_EQ(factor_of(UnitMup{}, {Point::scores, 16}), 1.0 / 16);
  EXPECT_EQ(factor_of(UnitMup{}, {Point::token, 64}), 1);
}

}  // namespace
}  // namespace ballast
