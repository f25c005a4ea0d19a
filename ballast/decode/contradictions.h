#pragma once

#include <vector>

#include "ballast/decode/options.h"
#include "ballast/model/contradictions.h"

namespace ballast {

/// Every contradiction within the options of decoding.
std::vector<Contradiction> contradictions(const DecodeOptions& options);

}  // namespace ballast
