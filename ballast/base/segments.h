#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// Where each sequence of a packed tensor lies along its first dimension: B pairs (begin, length).
///
/// A batch is a list of sequences laid end to end, so no token of it is a pad. Sequences may also
/// leave gaps (a key-value cache with room to grow); only attention reads this.
class Segments {
 public:
  Segments() = default;

  /// Sequences end to end, in order. `first_places` are those of their first rows; absent: 0.
  static Segments packed(std::span<const int64_t> lengths,
                         std::span<const int64_t> first_places = {});

  /// `count` sequences of `length` rows, each `stride` rows after the one before it.
  static Segments strided(int64_t count, int64_t stride, int64_t length);

  int64_t count() const { return static_cast<int64_t>(begins_.size()); }
  int64_t begin(int64_t sequence) const { return begins_[sequence]; }
  int64_t length(int64_t sequence) const { return lengths_[sequence]; }
  /// Of its first row, for positions: 0 unless the sequence is the rest of a longer one.
  int64_t first_place(int64_t sequence) const {
    return first_places_.empty() ? 0 : first_places_[sequence];
  }
  int64_t places() const { return places_; }    ///< all places are below
  int64_t tokens() const { return tokens_; }    ///< sum of the lengths
  int64_t longest() const { return longest_; }  ///< 0 when there is none
  std::span<const int64_t> begins() const { return begins_; }
  std::span<const int64_t> lengths() const { return lengths_; }

  /// True when the sequences lie end to end from row 0.
  bool is_packed() const;

  bool operator==(const Segments&) const = default;

 private:
  void add(int64_t begin, int64_t length);

  std::vector<int64_t> begins_, lengths_;
  std::vector<int64_t> first_places_;  // empty where all are 0
  int64_t tokens_ = 0, longest_ = 0, places_ = 0;
};

/// Sequences of ids end to end; no token of it is a pad.
struct Packed {
  torch::Tensor tokens;  ///< int64 [N]
  Segments segments;

  Packed to(torch::Device device) const { return {tokens.to(device), segments}; }
};

}  // namespace ballast
