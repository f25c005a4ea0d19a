#pragma once

#include <vector>

#include "ballast/decode/generate_options.h"
#include "ballast/decode/options.h"
#include "ballast/model/contradictions.h"

namespace ballast {

/// Every contradiction within the options of decoding.
std::vector<Contradiction> contradictions(const DecodeOptions& options);

/// The same of generating.
std::vector<Contradiction> contradictions(const GenerateOptions& options);

}  // namespace ballast
