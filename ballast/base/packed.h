#pragma once

#include <torch/types.h>

#include "ballast/base/segments.h"

namespace ballast {

/// Sequences of ids end to end; no token of it is a pad.
struct Packed {
  torch::Tensor tokens;  ///< int64 [N]
  Segments segments;
};

}  // namespace ballast
