#include "ballast/loops/outer_sum.h"

#include <algorithm>

#include "ballast/loops/outer_sum_loops.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

int64_t rounded_up(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

/// A side of the result in `count` parts of whole panels or strips.
struct Side {
  int64_t columns, unit, count;

  int64_t size() const { return rounded_up((columns + count - 1) / count, unit); }
};

/// Tiles whose packed operands and result fit the second cache together, as many as keep all
/// threads at work.
struct Tiles {
  Side left, right;

  Tiles(const OuterSum& sum, int64_t threads)
      : left{sum.left_columns, left_unit(), (sum.left_columns + most - 1) / most},
        right{sum.right_columns, right_unit(), (sum.right_columns + most - 1) / most} {
    while (count() % threads != 0 && count() < 4 * threads) {
      Side& longer = left.size() > right.size() ? left : right;
      if (longer.size() == longer.unit) break;
      ++longer.count;
    }
  }

  int64_t count() const { return left.count * right.count; }

  OuterTile at(int64_t i) const {
    const int64_t row = i / right.count * left.size(), column = i % right.count * right.size();
    return {row, std::min(row + left.size(), left.columns), column,
            std::min(column + right.size(), right.columns)};
  }

 private:
  static constexpr int64_t most = 256;
};

}  // namespace

void outer_sum(const OuterSum& sum) {
  if (sum.rows == 0) {
    if (!sum.add) std::fill_n(sum.out, sum.left_columns * sum.right_columns, 0.0F);
    return;
  }
  const Tiles tiles(sum, at::get_num_threads());
  for_each_task(tiles.count(), [&](int64_t task) {
    const OuterTile tile = tiles.at(task);
    if (tile.left_begin >= tile.left_end || tile.right_begin >= tile.right_end) return;
    sum_tile(sum, tile);
  });
}

}  // namespace ballast
