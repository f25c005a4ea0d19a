#include "tools/parts.h"

#include <openssl/sha.h>

#include <cstdint>

namespace ballast {

Part part_of(std::string_view name) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(name.data()), name.size(), digest.data());
  uint64_t first = 0;
  for (size_t i = 0; i < 8; ++i) first = first << 8 | digest[i];
  const auto bucket = first % 1000;
  if (bucket < 40) return Part::test;
  return bucket < 80 ? Part::valid : Part::train;
}

}  // namespace ballast
