#pragma once

#include <cstdint>

#include "ballast/loops/drop_row.h"

namespace ballast {

struct DropRows {
  int64_t rows, columns;
  DropRow drop;
};

/// `from` times its dropout factors, see `drop_factors`; contiguous [rows, columns].
void drop_rows(const DropRows& call, const float* from, float* to);

}  // namespace ballast
