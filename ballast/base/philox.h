#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ballast {

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): a random
/// function of a key and a counter. A value depends on nothing else, so neither on the number of
/// threads nor on what was drawn before.
std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high = 0);

/// A uniform number in the open interval (0, 1) from 52 of 64 random bits.
double open_uniform(uint64_t bits);

/// Mixes two keys into one that is random in both (the finaliser of SplitMix64).
uint64_t mix(uint64_t a, uint64_t b);

/// A stable 64-bit key of a name (FNV-1a).
uint64_t key_of(std::string_view name);

}  // namespace ballast
