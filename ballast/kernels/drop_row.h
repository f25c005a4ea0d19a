#pragma once

#include <cstdint>

#include "ballast/kernels/dropout.h"

namespace ballast {

/// A `DropMask` as the vector loops need it.
struct DropRow {
  uint64_t key = 0;
  uint32_t threshold = 0;  ///< 0 = nothing is dropped
  float kept = 1;          ///< factor of what stays

  bool active() const { return threshold > 0; }
};

inline DropRow drop_row_of(DropMask mask) {
  if (!mask.active()) return {};
  return {mask.key, drop_threshold(mask.p), 1.0F / static_cast<float>(1 - mask.p)};
}

}  // namespace ballast
