#include "ballast/base/scatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "ballast/base/philox.h"

namespace ballast {
namespace {

std::vector<int64_t> all(int64_t count, uint64_t key) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) order.push_back(scattered(i, count, key));
  return order;
}

TEST(Scattered, IsAPermutationOfEverySize) {
  for (const int64_t count : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097}) {
    std::vector<int64_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    EXPECT_TRUE(std::ranges::is_permutation(all(count, 7), numbers)) << count;
  }
}

TEST(Scattered, FollowsItsKey) {
  EXPECT_EQ(all(1000, 7), all(1000, 7));
  EXPECT_NE(all(1000, 7), all(1000, 8));
}

// Chi-squared over the 1681 pairs of a place and where it goes, in 41 * 400 draws each; of the
// (41 - 1)^2 = 1600 degrees of freedom, so above 1830 with p = 5e-5.
TEST(Scattered, TakesEveryPlaceEverywhereEquallyOften) {
  constexpr int64_t count = 41, keys = 16'400;
  std::vector<double> seen(count * count);
  for (uint64_t key = 0; key < keys; ++key) {
    const auto order = all(count, mix(key, 3));
    for (int64_t i = 0; i < count; ++i) seen[i * count + order[i]] += 1;
  }
  double chi = 0;
  for (const double times : seen) chi += (times - 400) * (times - 400) / 400;
  EXPECT_LT(chi, 1830);
}

// Neighbours stay neighbours by chance alone: about 2 of 10^5 pairs, more than 12 with p = 1e-6.
TEST(Scattered, SeparatesNeighbours) {
  const auto order = all(100'000, 11);
  int64_t close = 0;
  for (std::size_t i = 1; i < order.size(); ++i) close += std::abs(order[i] - order[i - 1]) == 1;
  EXPECT_LT(close, 13);
}

TEST(Scattered, ReachesLargeNumbers) {
  const int64_t count = int64_t{1} << 45;
  EXPECT_LT(scattered(count - 1, count, 1), count);
  EXPECT_NE(scattered(count - 1, count, 1), scattered(count - 2, count, 1));
}

}  // namespace
}  // namespace ballast
