#pragma once

#include <cstdint>

#include "ballast/loops/outer_sum.h"

namespace ballast {

/// A rectangle of the result: rows [left_begin, left_end), columns [right_begin, right_end).
struct OuterTile {
  int64_t left_begin, left_end, right_begin, right_end;
};

/// What a tile's sides should be multiples of, on the instruction set in use; others give the same
/// result, more slowly.
int64_t left_unit();
int64_t right_unit();

/// Sums one tile over all rows, of which there is at least one; and `left_sums` of its left columns
/// where right_begin is 0. What this writes, no other tile writes; the work of one thread.
void sum_tile(const OuterSum& sum, const OuterTile& tile);

}  // namespace ballast
