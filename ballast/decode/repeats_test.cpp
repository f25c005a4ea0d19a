#include "ballast/decode/repeats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ballast {
namespace {

/// By trying every token and looking for two equal runs of n.
std::set<int64_t> by_trying(std::vector<int64_t> tokens, size_t n, int64_t vocabulary) {
  std::set<int64_t> found;
  tokens.push_back(0);
  for (int64_t next = 0; next < vocabulary; ++next) {
    tokens.back() = next;
    std::set<std::vector<int64_t>> runs;
    size_t count = 0;
    for (size_t at = 0; at + n <= tokens.size(); ++at, ++count) {
      runs.emplace(tokens.begin() + static_cast<std::ptrdiff_t>(at),
                   tokens.begin() + static_cast<std::ptrdiff_t>(at + n));
    }
    if (runs.size() < count) found.insert(next);
  }
  return found;
}

TEST(RepeatingTokens, AreThoseThatTryingFinds) {
  constexpr int64_t vocabulary = 3;
  for (const size_t n : {1, 2, 3}) {
    std::vector<std::vector<int64_t>> texts{{}};
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::vector<int64_t> text = texts[i];
      const auto found = repeating_tokens(text, static_cast<int64_t>(n));
      const auto wanted = by_trying(text, n, vocabulary);
      EXPECT_EQ(std::set<int64_t>(found.begin(), found.end()), wanted);
      // A text that repeats already is never asked about: whatever comes next repeats.
      for (int64_t next = 0; next < vocabulary && text.size() < 6; ++next) {
        if (wanted.contains(next)) continue;
        texts.push_back(text);
        texts.back().push_back(next);
      }
    }
    EXPECT_GT(texts.size(), n == 1 ? 10U : 30U);
  }
}

}  // namespace
}  // namespace ballast
