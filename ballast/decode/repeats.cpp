#include "ballast/decode/repeats.h"

#include <algorithm>

namespace ballast {

std::vector<int64_t> repeating_tokens(std::span<const int64_t> tokens, int64_t n) {
  std::vector<int64_t> found;
  if (n < 1 || static_cast<size_t>(n) > tokens.size()) return found;
  const auto before = static_cast<size_t>(n - 1);
  const auto last = tokens.last(before);
  for (size_t at = 0; at + before < tokens.size(); ++at) {
    if (std::ranges::equal(tokens.subspan(at, before), last)) found.push_back(tokens[at + before]);
  }
  return found;
}

}  // namespace ballast
