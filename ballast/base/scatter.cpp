#include "ballast/base/scatter.h"

#include <bit>

#include "ballast/base/philox.h"

namespace ballast {
namespace {

constexpr uint64_t rounds = 7;

uint64_t permuted(uint64_t value, int half_bits, uint64_t key) {
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  uint64_t left = value >> half_bits, right = value & mask;
  for (uint64_t round = 0; round < rounds; ++round) {
    const auto random = philox(key, right, round);
    const uint64_t bits = (static_cast<uint64_t>(random[1]) << 32) | random[0];
    const uint64_t mixed = left ^ (bits & mask);
    left = right;
    right = mixed;
  }
  return (left << half_bits) | right;
}

}  // namespace

int64_t scattered(int64_t index, int64_t count, uint64_t key) {
  const auto size = static_cast<uint64_t>(count);
  const int bits = size > 1 ? std::bit_width(size - 1) : 1;
  const int half_bits = (bits + 1) / 2;
  auto place = static_cast<uint64_t>(index);
  do {
    place = permuted(place, half_bits, key);
  } while (place >= size);
  return static_cast<int64_t>(place);
}

}  // namespace ballast
