#include "ballast/loops/outer_sum_loops.h"

#include <algorithm>
#include <memory>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/outer_sum_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/product_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

/// A tile of the result lies in registers: those of AVX-512 hold a taller one, which also divides
/// the usual widths.
constexpr int64_t panel_width = hn::MaxLanes(Floats()) >= 16 ? 8 : tile_rows;

int64_t panel() { return panel_width; }

int64_t strip_width() { return static_cast<int64_t>(tile_vectors * lanes()); }

/// Rows summed at once: a strip of `right` of this length, 16 kilobytes, stays in the first cache.
int64_t depth_block() { return std::min<int64_t>(256, 4096 / strip_width()); }

int64_t pieces(int64_t columns, int64_t width) { return (columns + width - 1) / width; }

/// From one panel or strip to the next. The spare rows keep those of a power of two from sharing
/// their places in a cache.
int64_t panel_stride(int64_t rows) { return (rows + 2) * panel_width; }
int64_t strip_stride(int64_t rows) { return (rows + 1) * strip_width(); }

/// A row of a whole strip; as a call of `memmove` it took as long as what the copy is for.
HWY_INLINE void copy_strip(const float* from, float* to) {
  const Floats d;
  for (size_t v = 0; v < tile_vectors; ++v) {
    hn::StoreU(hn::LoadU(d, from + v * lanes()), d, to + v * lanes());
  }
}

/// A rectangle of the result, and the rows that are summed at once.
struct Block {
  OuterTile tile;
  int64_t row, rows;
};

/// Strips of columns, each contiguous over the block's rows; the last one is filled up with zeros.
void pack_right(const OuterSum& sum, const Block& block, float* packed) {
  const int64_t width = strip_width(), stride = strip_stride(block.rows);
  const int64_t columns = block.tile.right_end - block.tile.right_begin;
  const int64_t whole = columns / width, rest = columns % width;
  for (int64_t row = 0; row < block.rows; ++row) {
    const float* from = sum.right + (block.row + row) * sum.right_columns + block.tile.right_begin;
    float* to = packed + row * width;
    for (int64_t strip = 0; strip < whole; ++strip, from += width, to += stride) {
      copy_strip(from, to);
    }
    if (rest == 0) continue;
    std::copy_n(from, rest, to);
    std::fill(to + rest, to + width, 0.0F);
  }
}

/// The same of panels of `left`, times the scale.
void pack_left(const OuterSum& sum, const Block& block, float* HWY_RESTRICT packed) {
  constexpr int64_t width = panel_width;
  const int64_t columns = block.tile.left_end - block.tile.left_begin;
  const int64_t whole = columns / width, rest = columns % width;
  for (int64_t row = 0; row < block.rows; ++row) {
    const float* HWY_RESTRICT from =
        sum.left + (block.row + row) * sum.left_columns + block.tile.left_begin;
    float* HWY_RESTRICT to = packed + row * width;
    for (int64_t panel = 0; panel < whole; ++panel) {
      for (int64_t i = 0; i < width; ++i) to[i] = from[i] * sum.scale;
      from += width;
      to += panel_stride(block.rows);
    }
    if (rest == 0) continue;
    for (int64_t i = 0; i < rest; ++i) to[i] = from[i] * sum.scale;
    std::fill(to + rest, to + width, 0.0F);
  }
}

void add_left_sums(const OuterSum& sum, const Block& block, std::vector<float>& scratch) {
  const int64_t begin = block.tile.left_begin, columns = block.tile.left_end - begin;
  scratch.assign(columns, 0.0F);
  float* HWY_RESTRICT sums = scratch.data();
  for (int64_t row = 0; row < block.rows; ++row) {
    const float* from = sum.left + (block.row + row) * sum.left_columns + begin;
    for (int64_t i = 0; i < columns; ++i) sums[i] += from[i];
  }
  for (int64_t i = 0; i < columns; ++i) sum.left_sums[begin + i] += sums[i];
}

/// c = a^T b or c += it, of a panel a [depth, panel_width] and a strip b [depth, strip_width].
struct Packed {
  const float *a, *b;
  int64_t depth;
  float* c;
  int64_t c_row;
  bool add;
};

HWY_INLINE void multiply_packed(const Packed& p) {
  multiply_tile<panel_width, tile_vectors, true>({.a = p.a,
                                                  .a_row = 1,
                                                  .a_column = panel_width,
                                                  .b = p.b,
                                                  .b_row = tile_vectors * lanes(),
                                                  .c = p.c,
                                                  .c_row = static_cast<size_t>(p.c_row),
                                                  .rows = panel_width,
                                                  .columns = tile_vectors * lanes(),
                                                  .depth = static_cast<size_t>(p.depth),
                                                  .add = p.add},
                                                 0, 0);
}

/// The same where the result has fewer rows or columns than a tile: through a buffer.
void multiply_edge(Packed p, int64_t rows, int64_t columns) {
  float buffer[panel_width * tile_vectors * hn::MaxLanes(Floats())];
  float* out = p.c;
  const int64_t out_row = p.c_row;
  p.c = buffer;
  p.c_row = strip_width();
  if (p.add) {
    std::fill_n(buffer, panel_width * strip_width(), 0.0F);
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(out + r * out_row, columns, buffer + r * p.c_row);
    }
  }
  multiply_packed(p);
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(buffer + r * p.c_row, columns, out + r * out_row);
  }
}

void multiply_block(const OuterSum& sum, const Block& block, const float* left,
                    const float* right) {
  const OuterTile& tile = block.tile;
  const int64_t width = strip_width();
  for (int64_t j = tile.right_begin; j < tile.right_end; j += width) {
    const int64_t columns = std::min(width, tile.right_end - j);
    const float* a = left;
    for (int64_t i = tile.left_begin; i < tile.left_end; i += panel_width) {
      const int64_t rows = std::min(panel_width, tile.left_end - i);
      const Packed packed{a,
                          right,
                          block.rows,
                          sum.out + i * sum.right_columns + j,
                          sum.right_columns,
                          sum.add || block.row > 0};
      if (rows == panel_width && columns == width) {
        multiply_packed(packed);
      } else {
        multiply_edge(packed, rows, columns);
      }
      a += panel_stride(block.rows);
    }
    right += strip_stride(block.rows);
  }
}

void tile_sums(const OuterSum& sum, const OuterTile& tile) {
  const int64_t depth = std::min(depth_block(), sum.rows);
  const int64_t left_size =
      pieces(tile.left_end - tile.left_begin, panel_width) * panel_stride(depth);
  const int64_t right_size =
      pieces(tile.right_end - tile.right_begin, strip_width()) * strip_stride(depth);
  const auto left = std::make_unique_for_overwrite<float[]>(left_size);
  const auto right = std::make_unique_for_overwrite<float[]>(right_size);
  std::vector<float> scratch;
  for (int64_t row = 0; row < sum.rows; row += depth) {
    const Block block{tile, row, std::min(depth, sum.rows - row)};
    pack_left(sum, block, left.get());
    pack_right(sum, block, right.get());
    if (sum.left_sums != nullptr && tile.right_begin == 0) add_left_sums(sum, block, scratch);
    multiply_block(sum, block, left.get(), right.get());
  }
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(panel);
HWY_EXPORT(strip_width);
HWY_EXPORT(tile_sums);

}  // namespace

int64_t left_unit() { return HWY_DYNAMIC_DISPATCH(panel)(); }

int64_t right_unit() { return HWY_DYNAMIC_DISPATCH(strip_width)(); }

void sum_tile(const OuterSum& sum, const OuterTile& tile) {
  HWY_DYNAMIC_DISPATCH(tile_sums)(sum, tile);
}

}  // namespace ballast
#endif
