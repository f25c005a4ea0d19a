#include "ballast/base/philox.h"

namespace ballast {

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  constexpr uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  constexpr uint32_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;
  auto key_0 = static_cast<uint32_t>(key), key_1 = static_cast<uint32_t>(key >> 32);
  std::array<uint32_t, 4> c{
      static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
      static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t product_0 = multiplier_0 * c[0], product_1 = multiplier_1 * c[2];
    c = {static_cast<uint32_t>(product_1 >> 32) ^ c[1] ^ key_0, static_cast<uint32_t>(product_1),
         static_cast<uint32_t>(product_0 >> 32) ^ c[3] ^ key_1, static_cast<uint32_t>(product_0)};
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
  return c;
}

double open_uniform(uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1.0p-52; }

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9E3779B97F4A7C15 * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t key_of(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace ballast
