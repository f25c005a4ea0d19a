#pragma once

#include <string>
#include <string_view>

#include "ballast/metrics/ter.h"

namespace ballast {

/// The line as Tercom's and sacreBLEU's normalizer leave it, to be split at white space.
std::u32string tercom_text(std::u32string_view line, const TerOptions& options);

}  // namespace ballast
