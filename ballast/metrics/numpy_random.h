#pragma once

#include <array>
#include <cstdint>

namespace ballast {

/// numpy's `default_rng(seed)`: PCG64 (O'Neill 2014, HMC-CS-2014-0905; 128-bit state, XSL-RR
/// output) seeded by `SeedSequence`, with the ways in which its `Generator` makes bounded integers
/// and coins of the bits. sacreBLEU draws its samples so.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);

  uint64_t next64();

  /// Halves of the 64 bits, the lower first.
  uint32_t next32();

  /// As `integers(0, count)` and `choice(count)` give it: Lemire 2019, arXiv:1805.10941, on 32
  /// bits. 1 <= count <= 2^32 - 1.
  uint32_t below(uint32_t count);

  /// As `integers(2, dtype=bool)` gives it: one bit of a 32-bit number after the other.
  bool coin();

 private:
  __extension__ using Wide = unsigned __int128;

  Wide state_ = 0, increment_ = 0;
  uint32_t upper_half_ = 0, coins_ = 0;
  bool has_upper_half_ = false;
  int coins_left_ = 0;
};

}  // namespace ballast
