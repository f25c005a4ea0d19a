#pragma once

#include <string_view>

namespace ballast {

/// The release of sacreBLEU whose numbers the metrics equal; signatures name it.
inline constexpr std::string_view sacrebleu_version = "2.6.0";

}  // namespace ballast
