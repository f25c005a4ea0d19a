#pragma once

#include <array>
#include <string_view>

namespace ballast {

/// The part of a corpus that a text belongs to; of two claims the earlier one wins.
enum class Part { train, valid, test };

inline constexpr std::array<std::string_view, 3> kPartNames{"train", "valid", "test"};

/// By a document's name: the first 8 bytes, big-endian, of its SHA-256, modulo 1000: 0-39 test,
/// 40-79 valid, else train.
Part part_of(std::string_view name);

}  // namespace ballast
