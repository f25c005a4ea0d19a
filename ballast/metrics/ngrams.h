#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ballast {

/// Numbers words in the order in which they are first seen.
class WordIds {
 public:
  std::vector<uint32_t> number(std::span<const std::u32string_view> words);

 private:
  std::unordered_map<std::u32string, uint32_t> ids_;
};

/// Counts the n-grams, 1 <= n <= max_order, of token sequences that are to be compared. It keeps
/// them as the nodes of a trie, so equal n-grams share a number and nothing is compared by a hash
/// alone.
class NgramCounter {
 public:
  /// How often each n-gram occurs, by its number; n-grams numbered later have no entry.
  using Counts = std::vector<int64_t>;

  explicit NgramCounter(int max_order);

  Counts count(std::span<const uint32_t> tokens);

  /// For n = 1 .. max_order, the sum over the n-grams of the lesser of the two counts.
  std::vector<int64_t> matches(const Counts& a, const Counts& b) const;

 private:
  uint32_t extended(uint32_t prefix, uint32_t token);

  size_t max_order_;
  std::vector<size_t> orders_{0};  // the empty n-gram is number 0
  std::unordered_map<uint64_t, uint32_t> children_;
};

/// Number of n-grams in a sequence of `length` tokens.
constexpr int64_t ngrams_in(int64_t length, int64_t n) { return length < n ? 0 : length - n + 1; }

}  // namespace ballast
