#pragma once

#include <cstdint>

namespace ballast {

/// `from` to the nearest bfloat16, ties to even; values beyond its range become infinities, a NaN
/// stays one. Any alignment; the arrays may not overlap. Runs on libtorch's threads.
void round_elements(const float* from, uint16_t* to, int64_t count);

}  // namespace ballast
