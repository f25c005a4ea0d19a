#pragma once

#include <cstdint>

namespace ballast {

/// `from` to the nearest bfloat16, ties to even.
void round_elements(const float* from, uint16_t* to, int64_t count);

}  // namespace ballast
