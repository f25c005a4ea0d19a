#pragma once

#include <cstdint>

namespace ballast {

/// Where a random permutation of 0 .. count - 1 takes `index`, without the rest of it: a Feistel
/// network (Luby and Rackoff 1988) with Philox as its round function, walked until it comes out
/// below `count` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). `index` is
/// below `count`.
int64_t scattered(int64_t index, int64_t count, uint64_t key);

}  // namespace ballast
