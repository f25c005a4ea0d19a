#include "ballast/metrics/beam_distance.h"

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

constexpr size_t beam_width = 25;
constexpr int64_t outside_beam = 10'000'000'000'000'000;

// A slope steeper than the beam is wide would leave neighbouring rows without a common column.
size_t beam_for(double slope) {
  const double half = slope / 2;
  if (half <= beam_width) return beam_width;
  return static_cast<size_t>(std::ceil(half + beam_width));
}

}  // namespace

BeamDistance::BeamDistance(std::span<const uint32_t> hypothesis,
                           std::span<const uint32_t> reference)
    : reference_(reference),
      length_(hypothesis.size()),
      slope_(hypothesis.empty()
                 ? 1.0
                 : static_cast<double>(reference.size()) / static_cast<double>(hypothesis.size())),
      beam_(beam_for(slope_)) {
  rows_.reserve(length_ + 1);
  rows_.push_back(first_row());
  for (size_t i = 1; i <= length_; ++i) {
    rows_.push_back(next_row(rows_.back(), i, hypothesis[i - 1]));
  }
}

BeamDistance::Cell BeamDistance::Row::at(size_t column) const {
  const bool inside = column >= first && column - first < cells.size();
  return inside ? cells[column - first] : Cell{outside_beam, Edit::substitute};
}

BeamDistance::Row BeamDistance::first_row() const {
  Row row{0, {}};
  for (size_t j = 0; j <= reference_.size(); ++j) {
    row.cells.push_back({static_cast<int64_t>(j), Edit::insert});
  }
  return row;
}

BeamDistance::Row BeamDistance::next_row(const Row& above, size_t index, uint32_t word) const {
  const auto diagonal = static_cast<size_t>(std::floor(static_cast<double>(index) * slope_));
  const size_t columns = reference_.size() + 1;
  const size_t begin = diagonal > beam_ ? diagonal - beam_ : 0;
  const size_t end = index == length_ ? columns : std::min(columns, diagonal + beam_);
  Row row{begin, {}};
  row.cells.reserve(end - begin);
  for (size_t j = begin; j < end; ++j) row.cells.push_back(best_cell(above, row, j, word));
  return row;
}

BeamDistance::Cell BeamDistance::best_cell(const Row& above, const Row& row, size_t column,
                                           uint32_t word) const {
  const Cell removed{above.at(column).cost + 1, Edit::remove};
  if (column == 0) return removed;
  const bool same = word == reference_[column - 1];
  Cell best{above.at(column - 1).cost + (same ? 0 : 1), same ? Edit::keep : Edit::substitute};
  // Tercom's order of preference decides between equal costs, and with it which shifts are tried.
  if (removed.cost < best.cost) best = removed;
  const Cell inserted{row.at(column - 1).cost + 1, Edit::insert};
  if (inserted.cost < best.cost) best = inserted;
  return {std::min(best.cost, outside_beam), best.edit};
}

int64_t BeamDistance::distance() const { return rows_.back().cells.back().cost; }

int64_t BeamDistance::distance_of(std::span<const uint32_t> words, size_t same) const {
  if (same == length_) return distance();
  Row row = next_row(rows_[same], same + 1, words[same]);
  for (size_t i = same + 1; i < length_; ++i) row = next_row(row, i + 1, words[i]);
  return row.cells.back().cost;
}

// From the last words to the first.
std::vector<BeamDistance::Edit> BeamDistance::edits() const {
  std::vector<Edit> path;
  size_t i = length_, j = reference_.size();
  while (i > 0 || j > 0) {
    const Edit edit = rows_[i].at(j).edit;
    path.push_back(edit);
    if (edit != Edit::insert) --i;
    if (edit != Edit::remove) --j;
  }
  return path;
}

WordAlignment BeamDistance::alignment() const {
  const std::vector<Edit> path = edits();
  WordAlignment result;
  int64_t position = -1;
  for (auto edit = path.rbegin(); edit != path.rend(); ++edit) {
    const bool wrong = *edit != Edit::keep;
    if (*edit != Edit::insert) {
      ++position;
      result.hypothesis_wrong.push_back(wrong);
    }
    if (*edit != Edit::remove) {
      result.hypothesis_of.push_back(position);
      result.reference_wrong.push_back(wrong);
    }
  }
  return result;
}

}  // namespace ballast
