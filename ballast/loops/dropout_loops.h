#pragma once

#include <cstdint>

#include "ballast/loops/drop_row.h"

namespace ballast {

/// [rows, columns] elements and which of them go; row r reads the words of row r, see
/// `drop_factors`.
struct DropRows {
  int64_t rows, columns;
  DropRow drop;
};

/// to = from * factor, each 0 or 1/(1-p); contiguous float32 [rows, columns] of any alignment, `to`
/// may be `from`. A removed NaN or infinity stays NaN. Runs on libtorch's threads; the result
/// depends on no number of them.
void drop_rows(const DropRows& call, const float* from, float* to);

}  // namespace ballast
