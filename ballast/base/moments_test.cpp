#include "ballast/base/moments.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

// C33: statistics over the tokens of a packed batch are those of the real tokens, since there are
// no pads to be masked; five pads of 0 would give 1.5 and 3.25.
TEST(Moments, C33PackedTokensHaveTheMomentsOfRealTokensOnly) {
  const Moments found = moments(torch::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F}));
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_DOUBLE_EQ(found.variance(), 2);
}

TEST(Moments, ALargeOffsetCostsNoDigits) {
  const Moments found = moments(torch::tensor({40000.0F, 40001.0F, 40002.0F, 40003.0F}));
  EXPECT_DOUBLE_EQ(found.variance(), 1.25);
}

TEST(Moments, AnEmptyTensorHasNone) { EXPECT_EQ(moments(torch::empty({0, 4})).second, 0); }

}  // namespace
}  // namespace ballast
