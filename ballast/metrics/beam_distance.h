#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// Which word of the hypothesis stands where each word of the reference does, and which words
/// differ.
struct WordAlignment {
  std::vector<int64_t>
      hypothesis_of;  ///< per reference word; a missing word has the place before it
  std::vector<bool> reference_wrong, hypothesis_wrong;
};

/// The edit distance (insertion, deletion, substitution cost 1) from a hypothesis to a reference,
/// searched only in a beam around the diagonal, as Tercom and sacreBLEU do. Words are numbers.
class BeamDistance {
 public:
  BeamDistance(std::span<const uint32_t> hypothesis, std::span<const uint32_t> reference);

  int64_t distance() const;

  /// The distance of `words`, a permutation of the hypothesis that begins with its first `same`
  /// words.
  int64_t distance_of(std::span<const uint32_t> words, size_t same) const;

  WordAlignment alignment() const;

 private:
  enum class Edit : uint8_t { keep, substitute, insert, remove };
  struct Cell {
    int64_t cost;
    Edit edit;
  };
  /// The cells of one row that lie in the beam; `first` is the column of the first of them.
  struct Row {
    size_t first;
    std::vector<Cell> cells;

    Cell at(size_t column) const;
  };

  Row first_row() const;
  Row next_row(const Row& above, size_t index, uint32_t word) const;
  Cell best_cell(const Row& above, const Row& row, size_t column, uint32_t word) const;
  std::vector<Edit> edits() const;

  std::span<const uint32_t> reference_;
  size_t length_;  ///< of the hypothesis
  double slope_;   ///< reference words per hypothesis word
  size_t beam_;
  std::vector<Row> rows_;
};

}  // namespace ballast
