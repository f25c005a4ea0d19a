#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ballast {

/// SHA-256 digest of `bytes` (FIPS 180-4).
std::array<uint8_t, 32> sha256(std::string_view bytes);

}  // namespace ballast
