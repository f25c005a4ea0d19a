#include "ballast/base/philox.h"

#include <gtest/gtest.h>

#include <set>

namespace ballast {
namespace {

// Known answers published with the Random123 library (kat_vectors, philox4x32 10).
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ULL, ~0ULL, ~0ULL),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, OpenUniformNeverReachesItsEnds) {
  EXPECT_GT(open_uniform(0), 0.0);
  EXPECT_LT(open_uniform(~0ULL), 1.0);
}

TEST(Philox, MixedKeysOfNeighboursDiffer) {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 100; ++a) {
    for (uint64_t b = 0; b < 100; ++b) seen.insert(mix(a, b));
  }
  EXPECT_EQ(seen.size(), 10000U);
}

}  // namespace
}  // namespace ballast
