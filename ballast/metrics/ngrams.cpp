#include "ballast/metrics/ngrams.h"

#include <algorithm>

namespace ballast {

std::vector<uint32_t> WordIds::number(std::span<const std::u32string_view> words) {
  std::vector<uint32_t> numbers;
  numbers.reserve(words.size());
  for (const std::u32string_view word : words) {
    const auto next = static_cast<uint32_t>(ids_.size());
    numbers.push_back(ids_.try_emplace(std::u32string(word), next).first->second);
  }
  return numbers;
}

NgramCounter::NgramCounter(int max_order) : max_order_(static_cast<size_t>(max_order)) {}

uint32_t NgramCounter::extended(uint32_t prefix, uint32_t token) {
  const uint64_t key = uint64_t{prefix} << 32 | token;
  const auto [child, added] = children_.try_emplace(key, static_cast<uint32_t>(orders_.size()));
  if (added) orders_.push_back(orders_[prefix] + 1);
  return child->second;
}

NgramCounter::Counts NgramCounter::count(std::span<const uint32_t> tokens) {
  Counts counts(orders_.size());
  for (size_t begin = 0; begin < tokens.size(); ++begin) {
    uint32_t ngram = 0;
    for (const uint32_t token :
         tokens.subspan(begin, std::min(max_order_, tokens.size() - begin))) {
      ngram = extended(ngram, token);
      counts.resize(orders_.size());
      ++counts[ngram];
    }
  }
  return counts;
}

std::vector<int64_t> NgramCounter::matches(const Counts& a, const Counts& b) const {
  std::vector<int64_t> sums(max_order_);
  for (size_t ngram = 1; ngram < std::min(a.size(), b.size()); ++ngram) {
    sums[orders_[ngram] - 1] += std::min(a[ngram], b[ngram]);
  }
  return sums;
}

}  // namespace ballast
