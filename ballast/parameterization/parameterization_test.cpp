#include "ballast/parameterization/parameterization.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(Parameterization, NtkIsStandardWithTheFactorMoved) {
  const ParameterFacts facts{Role::feed_forward_in, 512, 2048};
  const Scaling standard = scaling_of(Standard{}, facts, 0.03);
  const Scaling ntk = scaling_of(Ntk{}, facts, 0.03);
  EXPECT_DOUBLE_EQ(standard.multiplier * standard.init_std, ntk.multiplier * ntk.init_std);
  EXPECT_EQ(ntk.init_std, 1);
}

TEST(Parameterization, AZeroMatrixStaysZeroUnderNtk) {
  EXPECT_EQ(scaling_of(Ntk{}, {}, 0), (Scaling{1, 0, 1}));
}

}  // namespace
}  // namespace ballast
