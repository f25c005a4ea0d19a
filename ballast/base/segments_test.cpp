#include "ballast/base/segments.h"

#include <gtest/gtest.h>

#include <array>

namespace ballast {
namespace {

TEST(Segments, PackedSequencesLieEndToEnd) {
  const Segments segments = Segments::packed(std::array<int64_t, 4>{3, 0, 1, 5});
  EXPECT_EQ(segments.count(), 4);
  EXPECT_EQ(segments.begin(2), 3);
  EXPECT_EQ(segments.begin(3), 4);
  EXPECT_EQ(segments.tokens(), 9);
  EXPECT_EQ(segments.longest(), 5);
  EXPECT_TRUE(segments.is_packed());
}

TEST(Segments, StridedSequencesLeaveRoomToGrow) {
  const Segments segments = Segments::strided(3, 8, 2);
  EXPECT_EQ(segments.begin(2), 16);
  EXPECT_EQ(segments.tokens(), 6);
  EXPECT_FALSE(segments.is_packed());
  EXPECT_TRUE(Segments::strided(3, 2, 2).is_packed());
}

}  // namespace
}  // namespace ballast
