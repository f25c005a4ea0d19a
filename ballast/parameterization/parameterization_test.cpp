#include "ballast/parameterization/parameterization.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(Parameterization, NtkIsStandardWithTheFactorMoved) {
  const ParameterFacts facts{.role = Role::feed_forward_in, .fan_in = 512, .fan_out = 2048};
  const Scaling standard = scaling_of(Standard{}, facts, 0.03, UpdateSize::adaptive);
  const Scaling ntk = scaling_of(Ntk{}, facts, 0.03, UpdateSize::adaptive);
  EXPECT_DOUBLE_EQ(standard.multiplier * standard.init_std, ntk.multiplier * ntk.init_std);
  EXPECT_EQ(ntk.init_std, 1);
}

TEST(Parameterization, AZeroMatrixStaysZeroUnderNtk) {
  EXPECT_EQ(scaling_of(Ntk{}, {}, 0, UpdateSize::adaptive), (Scaling{1, 0, 1}));
}

}  // namespace
}  // namespace ballast
