#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ballast/metrics/metric.h"

namespace ballast {

/// The release of sacreBLEU whose numbers the metrics equal; signatures name it.
inline constexpr std::string_view sacrebleu_version = "2.6.0";

/// `nrefs:1|bs:1000|seed:12345|OPTIONS|version:2.6.0`; null `resampling`: without its two fields.
std::string sacrebleu_signature(size_t references, const Resampling* resampling,
                                std::string_view options);

}  // namespace ballast
