#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// The tokens that may not come next if no `n` tokens in a row are to occur twice: what followed
/// the last n - 1 tokens wherever these stood before. For n = 1 every token there is.
std::vector<int64_t> repeating_tokens(std::span<const int64_t> tokens, int64_t n);

}  // namespace ballast
