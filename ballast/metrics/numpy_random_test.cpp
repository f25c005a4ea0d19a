#include "ballast/metrics/numpy_random.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ballast {
namespace {

template <class Draw>
auto draws(int count, Draw draw) {
  std::vector<decltype(draw())> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(draw());
  return drawn;
}

// Expected values: numpy 2.4.6, `r = numpy.random.default_rng(seed)`, then `r.<what the test
// says>`.
TEST(NumpyRandom, BitsAreThoseOfBitGeneratorRandomRaw) {
  const auto raw = [](uint64_t seed) {
    NumpyRandom random(seed);
    return draws(3, [&] { return random.next64(); });
  };
  EXPECT_EQ(raw(12345), (std::vector<uint64_t>{4193609425186963869U, 5843160025838961886U,
                                               14708796524633321433U}));
  EXPECT_EQ(raw(0), (std::vector<uint64_t>{11749869230777074271U, 4976686463289251617U,
                                           755828109848996024U}));
  EXPECT_EQ(
      raw((uint64_t{1} << 40) + 7),
      (std::vector<uint64_t>{15307346044642009514U, 4709548916763817589U, 2836937976252648324U}));
}

TEST(NumpyRandom, IndicesAreThoseOfChoice) {
  NumpyRandom few(12345);
  EXPECT_EQ(draws(12, [&] { return few.below(7); }),
            (std::vector<uint32_t>{4, 1, 5, 2, 1, 5, 4, 4, 6, 2, 5, 2}));
  NumpyRandom many(12345);
  EXPECT_EQ(draws(6, [&] { return many.below(3000000000U); }),
            (std::vector<uint32_t>{2097645094U, 682008066U, 2365940964U, 950275018U, 2392096371U,
                                   2028764011U}));
}

TEST(NumpyRandom, OneOfOneDrawsNoBits) {
  NumpyRandom random(12345);
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_EQ(random.next64(), 4193609425186963869U);
}

TEST(NumpyRandom, CoinsAreThoseOfBooleanIntegers) {
  NumpyRandom random(12345);
  std::string coins;
  for (int i = 0; i < 70; ++i) coins += random.coin() ? '1' : '0';
  EXPECT_EQ(coins, "1011100110000011111111110100110110110001100011010100110001011100011110");
}

}  // namespace
}  // namespace ballast
