#include "ballast/metrics/numpy_random.h"

#include <bit>
#include <cstddef>
#include <limits>

namespace ballast {
namespace {

constexpr size_t pool_size = 4;

// One of SeedSequence's two hashes: each value is mixed with a constant that changes every time.
class Hash {
 public:
  constexpr Hash(uint32_t initial, uint32_t multiplier)
      : constant_(initial), multiplier_(multiplier) {}

  constexpr uint32_t operator()(uint32_t value) {
    value ^= constant_;
    constant_ *= multiplier_;
    value *= constant_;
    return value ^ value >> 16;
  }

 private:
  uint32_t constant_, multiplier_;
};

constexpr uint32_t mixed(uint32_t a, uint32_t b) {
  const uint32_t value = 0xca01f9ddU * a - 0x4973f715U * b;
  return value ^ value >> 16;
}

std::array<uint64_t, 4> seed_words(uint64_t seed) {
  Hash absorb(0x43b0d7e5U, 0x931e8875U);
  std::array<uint32_t, pool_size> pool{static_cast<uint32_t>(seed),
                                       static_cast<uint32_t>(seed >> 32)};
  for (uint32_t& word : pool) word = absorb(word);
  for (size_t from = 0; from < pool_size; ++from) {
    for (size_t to = 0; to < pool_size; ++to) {
      if (from != to) pool[to] = mixed(pool[to], absorb(pool[from]));
    }
  }
  Hash emit(0x8b51f9ddU, 0x58f38dedU);
  std::array<uint64_t, 4> words{};
  for (size_t i = 0; i < words.size() * 2; ++i) {
    words[i / 2] |= uint64_t{emit(pool[i % pool_size])} << (i % 2 * 32);
  }
  return words;
}

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  const std::array<uint64_t, 4> words = seed_words(seed);
  increment_ = (Wide{words[2]} << 64 | words[3]) << 1 | 1;
  next64();
  state_ += Wide{words[0]} << 64 | words[1];
  next64();
}

uint64_t NumpyRandom::next64() {
  constexpr Wide multiplier = Wide{2549297995355413924ULL} << 64 | 4865540595714422341ULL;
  state_ = state_ * multiplier + increment_;
  const auto high = static_cast<uint64_t>(state_ >> 64);
  return std::rotr(high ^ static_cast<uint64_t>(state_), static_cast<int>(high >> 58));
}

uint32_t NumpyRandom::next32() {
  has_upper_half_ = !has_upper_half_;
  if (!has_upper_half_) return upper_half_;
  const uint64_t both = next64();
  upper_half_ = static_cast<uint32_t>(both >> 32);
  return static_cast<uint32_t>(both);
}

uint32_t NumpyRandom::below(uint32_t count) {
  if (count == 1) return 0;
  const uint32_t least = -count % count;
  uint64_t product = uint64_t{next32()} * count;
  while (static_cast<uint32_t>(product) < least) product = uint64_t{next32()} * count;
  return static_cast<uint32_t>(product >> 32);
}

bool NumpyRandom::coin() {
  if (coins_left_ == 0) {
    coins_ = next32();
    coins_left_ = std::numeric_limits<uint32_t>::digits;
  } else {
    coins_ >>= 1;
  }
  --coins_left_;
  return (coins_ & 1) != 0;
}

}  // namespace ballast
