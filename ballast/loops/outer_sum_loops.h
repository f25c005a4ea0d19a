#pragma once

#include <cstdint>

#include "ballast/loops/outer_sum.h"

namespace ballast {

/// A rectangle of the result.
struct OuterTile {
  int64_t left_begin, left_end, right_begin, right_end;
};

/// What a tile's sides should be multiples of, on the instruction set in use.
int64_t left_unit();
int64_t right_unit();

/// Sums one tile, and `left_sums` of its columns where it is the first of them. What this writes,
/// no other tile writes.
void sum_tile(const OuterSum& sum, const OuterTile& tile);

}  // namespace ballast
