#include "ballast/kernels/outer_sum.h"

#include <memory>
#include <vector>

#include "ballast/kernels/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/kernels/outer_sum.cpp"
#include <hwy/foreach_target.h>

#include "ballast/kernels/product_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

int64_t strip_width() { return static_cast<int64_t>(tile_vectors * lanes()); }

/// Rows summed at once: a strip of `right` of this length, 16 kilobytes, stays in the first cache.
int64_t depth_block() { return std::min<int64_t>(256, 4096 / strip_width()); }

int64_t strip_count(int64_t columns) { return (columns + strip_width() - 1) / strip_width(); }

/// A row of a whole strip; as a call of `memmove` it took as long as what the copy is for.
HWY_INLINE void copy_strip(const float* from, float* to) {
  const Floats d;
  for (size_t v = 0; v < tile_vectors; ++v) {
    hn::StoreU(hn::LoadU(d, from + v * lanes()), d, to + v * lanes());
  }
}

/// Strips of columns, each contiguous over all rows and filled up with zeros.
void pack_right(const OuterSum& sum, int64_t begin, int64_t end, float* packed) {
  const int64_t width = strip_width(), strips = strip_count(sum.right_columns);
  for (int64_t row = begin; row < end; ++row) {
    const float* from = sum.right + row * sum.right_columns;
    for (int64_t strip = 0; strip < strips; ++strip) {
      float* to = packed + (strip * sum.rows + row) * width;
      const int64_t real = std::min(width, sum.right_columns - strip * width);
      if (real == width) {
        copy_strip(from + strip * width, to);
        continue;
      }
      std::copy_n(from + strip * width, real, to);
      std::fill(to + real, to + width, 0.0F);
    }
  }
}

/// A rectangle of the result's rows and of the summed rows.
struct Block {
  int64_t column, columns;  ///< of `left`
  int64_t row, rows;
};

/// Panels of tile_rows columns of `left`, each contiguous over the block's rows; the last one is
/// filled up with zeros.
void pack_left(const OuterSum& sum, const Block& block, float* packed) {
  constexpr int64_t width = tile_rows;
  const int64_t whole = block.columns / width, rest = block.columns % width;
  for (int64_t row = 0; row < block.rows; ++row) {
    const float* from = sum.left + (block.row + row) * sum.left_columns + block.column;
    float* to = packed + row * width;
    for (int64_t panel = 0; panel < whole; ++panel) {
      for (int64_t i = 0; i < width; ++i) to[i] = from[i] * sum.scale;
      from += width;
      to += block.rows * width;
    }
    if (rest == 0) continue;
    for (int64_t i = 0; i < rest; ++i) to[i] = from[i] * sum.scale;
    std::fill(to + rest, to + width, 0.0F);
  }
}

void add_left_sums(const OuterSum& sum, const Block& block, std::vector<float>& scratch) {
  scratch.assign(block.columns, 0.0F);
  for (int64_t row = 0; row < block.rows; ++row) {
    const float* from = sum.left + (block.row + row) * sum.left_columns + block.column;
    for (int64_t i = 0; i < block.columns; ++i) scratch[i] += from[i];
  }
  for (int64_t i = 0; i < block.columns; ++i) sum.left_sums[block.column + i] += scratch[i];
}

/// One tile of the result from packed operands; a tile over the edge goes through a buffer.
void add_tile(Product tile, int64_t rows, int64_t columns) {
  if (rows == static_cast<int64_t>(tile_rows) && columns == strip_width()) {
    return multiply_tile<tile_rows, tile_vectors, true>(tile, 0, 0);
  }
  float buffer[tile_rows * tile_vectors * hn::MaxLanes(Floats())];
  float* out = tile.c;
  const size_t out_row = tile.c_row;
  const bool add = tile.add;
  tile.c = buffer;
  tile.c_row = strip_width();
  tile.add = false;
  multiply_tile<tile_rows, tile_vectors, true>(tile, 0, 0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      float& to = out[r * out_row + c];
      to = buffer[r * tile.c_row + c] + (add ? to : 0.0F);
    }
  }
}

void multiply_block(const OuterSum& sum, const Block& block, const float* left,
                    const float* right) {
  const int64_t width = strip_width();
  for (int64_t strip = 0; strip < strip_count(sum.right_columns); ++strip) {
    const float* b = right + (strip * sum.rows + block.row) * width;
    for (int64_t at = 0; at < block.columns; at += tile_rows) {
      float* c = sum.out + (block.column + at) * sum.right_columns + strip * width;
      const Product tile{.a = left + at * block.rows,
                         .a_row = 1,
                         .a_column = tile_rows,
                         .b = b,
                         .b_row = static_cast<size_t>(width),
                         .c = c,
                         .c_row = static_cast<size_t>(sum.right_columns),
                         .rows = tile_rows,
                         .columns = static_cast<size_t>(width),
                         .depth = static_cast<size_t>(block.rows),
                         .add = sum.add || block.row > 0};
      add_tile(tile, std::min<int64_t>(tile_rows, block.columns - at),
               std::min(width, sum.right_columns - strip * width));
    }
  }
}

/// Rows [begin, end) of the result.
void sum_rows(const OuterSum& sum, int64_t begin, int64_t end, const float* right) {
  const int64_t padded = (end - begin + tile_rows - 1) / tile_rows * tile_rows;
  const auto left = std::make_unique_for_overwrite<float[]>(padded * depth_block());
  std::vector<float> scratch;
  for (int64_t row = 0; row < sum.rows; row += depth_block()) {
    const Block block{begin, end - begin, row, std::min(depth_block(), sum.rows - row)};
    pack_left(sum, block, left.get());
    if (sum.left_sums != nullptr) add_left_sums(sum, block, scratch);
    multiply_block(sum, block, left.get(), right);
  }
}

int64_t packed_size(int64_t rows, int64_t columns) {
  return strip_count(columns) * strip_width() * rows;
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(packed_size);
HWY_EXPORT(pack_right);
HWY_EXPORT(sum_rows);

/// A packed block of `left` this wide fits the second cache.
constexpr int64_t most_columns = 96;

}  // namespace

void outer_sum(const OuterSum& sum) {
  if (sum.rows == 0) {
    if (!sum.add) std::fill_n(sum.out, sum.left_columns * sum.right_columns, 0.0F);
    return;
  }
  const auto right = std::make_unique_for_overwrite<float[]>(
      HWY_DYNAMIC_DISPATCH(packed_size)(sum.rows, sum.right_columns));
  const RowBlocks packing(sum.rows, 64, 64);
  for_each_task(packing.count(), [&](int64_t task) {
    HWY_DYNAMIC_DISPATCH(pack_right)(sum, packing.begin(task), packing.end(task), right.get());
  });
  const int64_t threads = at::get_num_threads();
  const int64_t rounds = (sum.left_columns + most_columns * threads - 1) / (most_columns * threads);
  const int64_t share = (sum.left_columns + rounds * threads - 1) / (rounds * threads);
  const RowBlocks blocks(sum.left_columns, (share + 5) / 6 * 6, sum.left_columns);
  for_each_task(blocks.count(), [&](int64_t task) {
    HWY_DYNAMIC_DISPATCH(sum_rows)(sum, blocks.begin(task), blocks.end(task), right.get());
  });
}

}  // namespace ballast
#endif
