#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// Arrays of any sizes laid end to end and cut into chunks of one size, so that threads share out
/// hundreds of small arrays as evenly as a few large ones. Borders depend on nothing but the sizes.
class Chunks {
 public:
  static constexpr int64_t size = 32768;  ///< elements; smaller ones cost more than they even out

  explicit Chunks(std::span<const int64_t> sizes) {
    ends_.reserve(sizes.size());
    for (const int64_t count : sizes) ends_.push_back(total() + count);
  }

  /// How many chunks; the last one may be smaller.
  int64_t count() const { return (total() + size - 1) / size; }

  /// body(array, begin, end) for every range [begin, end) of an array in this chunk, in order. Each
  /// element of each array lies in one range of one chunk; empty arrays get no call.
  template <class Body>
  void for_ranges(int64_t chunk, const Body& body) const {
    int64_t at = chunk * size;
    const int64_t stop = std::min(at + size, total());
    auto array = std::upper_bound(ends_.begin(), ends_.end(), at) - ends_.begin();
    for (; at < stop; ++array) {
      const int64_t origin = array == 0 ? 0 : ends_[array - 1];
      const int64_t end = std::min(stop, ends_[array]);
      if (at < end) body(array, at - origin, end - origin);
      at = end;
    }
  }

 private:
  int64_t total() const { return ends_.empty() ? 0 : ends_.back(); }

  std::vector<int64_t> ends_;
};

}  // namespace ballast
