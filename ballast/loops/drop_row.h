#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ballast {

/// Which elements dropout removes: a function of the key and the element's place, so that no mask
/// is stored and none depends on the number of threads (Srivastava et al. 2014, "Dropout: a simple
/// way to prevent neural networks from overfitting"; inverted, so that evaluation needs no factor).
struct DropMask {
  double p = 0;  ///< probability of removal, in [0, 1)
  uint64_t key = 0;

  bool active() const { return p > 0; }
};

/// Random words are compared with this: an element is removed when its word is below p 2^32,
/// rounded down.
inline uint32_t drop_threshold(double p) {
  return static_cast<uint32_t>(std::min(std::ldexp(p, 32), 4294967295.0));
}

/// A `DropMask` as the vector loops need it.
struct DropRow {
  uint64_t key = 0;
  uint32_t threshold = 0;  ///< 0 = nothing is dropped
  float kept = 1;          ///< factor of what stays, 1/(1-p)

  bool active() const { return threshold > 0; }
};

inline DropRow drop_row_of(DropMask mask) {
  if (!mask.active()) return {};
  return {mask.key, drop_threshold(mask.p), 1.0F / static_cast<float>(1 - mask.p)};
}

}  // namespace ballast
