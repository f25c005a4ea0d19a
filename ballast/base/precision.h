#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

/// The type of what matrix products multiply. Their sums, and everything else (weights, statistics,
/// softmax, loss, optimizer), are float32 in both.
enum class Precision { float32, bf16 };

template <>
struct EnumNames<Precision> {
  static constexpr std::array<std::pair<std::string_view, Precision>, 2> value{
      {{"float32", Precision::float32}, {"bf16", Precision::bf16}}};
};

}  // namespace ballast
