// Register-blocked products of small matrices, for the loops of attention and of weight gradients.
// Compiled once per instruction set, see vector_inl.h.
#if defined(BALLAST_LOOPS_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_LOOPS_PRODUCT_INL_H_
#undef BALLAST_LOOPS_PRODUCT_INL_H_
#else
#define BALLAST_LOOPS_PRODUCT_INL_H_
#endif

#include <algorithm>

#include "ballast/loops/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {

/// Six rows by two vectors keep twelve sums in flight, enough to hide the latency of two
/// multiply-add units, and leave room in sixteen registers.
constexpr size_t tile_rows = 6, tile_vectors = 2;

/// Which terms l of its sum a row of a product takes: begin <= l - row < end. The others are not
/// multiplied in, whatever they hold.
struct Band {
  static constexpr int64_t far = int64_t{1} << 62;
  int64_t begin = -far, end = far;

  bool has(size_t row, size_t l) const {
    const int64_t place = static_cast<int64_t>(l) - static_cast<int64_t>(row);
    return begin <= place && place < end;
  }
  bool has_all() const { return begin == -far && end == far; }
};

/// c = a b, or c += a b: a [rows, depth], b [depth, columns], c [rows, columns], with distances in
/// elements from one row to the next. a(i, l) = a[i * a_row + l * a_column], so a may lie
/// transposed; rows of b and c are contiguous. c may overlap neither a nor b.
struct Product {
  const float* a;
  size_t a_row, a_column;
  const float* b;
  size_t b_row;
  float* c;
  size_t c_row;
  size_t rows, columns, depth;
  bool add = false;
  Band band = {};
};

/// The terms that some of a tile's rows take, and within them those that all take.
struct Terms {
  size_t first, all_begin, all_end, last;
};

inline Terms terms_of(const Product& p, size_t row, size_t rows) {
  const auto place = [&](int64_t l, size_t least) {
    return static_cast<size_t>(
        std::clamp(l, static_cast<int64_t>(least), static_cast<int64_t>(p.depth)));
  };
  const auto top = static_cast<int64_t>(row), bottom = static_cast<int64_t>(row + rows - 1);
  const size_t first = place(p.band.begin + top, 0), last = place(p.band.end + bottom, first);
  const size_t all_begin = std::min(place(p.band.begin + bottom, first), last);
  return {first, all_begin, std::min(place(p.band.end + top, all_begin), last), last};
}

/// Adds the terms [begin, end) to the sums of a tile; with `edge` each row only its own.
template <bool edge, size_t rows, size_t vectors, class Load>
HWY_INLINE void add_terms(const Product& p, size_t row, size_t column, size_t begin, size_t end,
                          const Load& load, Vector (&sums)[rows][vectors]) {
  const Floats d;
  const float* a = p.a + row * p.a_row + begin * p.a_column;
  const float* b = p.b + column + begin * p.b_row;
  for (size_t l = begin; l < end; ++l, a += p.a_column, b += p.b_row) {
    Vector right[vectors];
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; ++v) right[v] = load(b + v * lanes());
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
      if (edge && !p.band.has(row + r, l)) continue;
      const Vector left = hn::Set(d, a[r * p.a_row]);
#pragma GCC unroll 8
      for (size_t v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
}

/// Rows row .. row + rows - 1 of c, from `column` on: `vectors` whole vectors, or one of which only
/// the columns up to p.columns exist. The sums stay in registers while `depth` passes by.
template <size_t rows, size_t vectors, bool whole, bool banded = false>
HWY_INLINE void multiply_tile(const Product& p, size_t row, size_t column) {
  const Floats d;
  const size_t count = whole ? 0 : p.columns - column;
  const auto load = [=](const float* from)
                        HWY_ATTR { return whole ? hn::LoadU(d, from) : load_part(from, count); };
  Vector sums[rows][vectors];
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; ++v) {
      sums[r][v] = p.add ? load(p.c + (row + r) * p.c_row + column + v * lanes()) : hn::Zero(d);
    }
  }
  if constexpr (banded) {
    const Terms terms = terms_of(p, row, rows);
    add_terms<true>(p, row, column, terms.first, terms.all_begin, load, sums);
    add_terms<false>(p, row, column, terms.all_begin, terms.all_end, load, sums);
    add_terms<true>(p, row, column, terms.all_end, terms.last, load, sums);
  } else {
    add_terms<false>(p, row, column, 0, p.depth, load, sums);
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; ++v) {
      float* to = p.c + (row + r) * p.c_row + column + v * lanes();
      if (whole) {
        hn::StoreU(sums[r][v], d, to);
      } else {
        store_part(sums[r][v], to, count);
      }
    }
  }
}

/// All rows of these columns, in tiles of 6 rows, then 4, 2 and 1.
template <bool banded, size_t vectors, bool whole>
HWY_INLINE void multiply_strip(const Product& p, size_t column) {
  size_t row = 0;
  for (; row + tile_rows <= p.rows; row += tile_rows) {
    multiply_tile<tile_rows, vectors, whole, banded>(p, row, column);
  }
  const size_t rest = p.rows - row;
  if (rest & 4) multiply_tile<4, vectors, whole, banded>(p, row, column);
  row += rest & 4;
  if (rest & 2) multiply_tile<2, vectors, whole, banded>(p, row, column);
  row += rest & 2;
  if (rest & 1) multiply_tile<1, vectors, whole, banded>(p, row, column);
}

template <bool banded>
inline void multiply_strips(const Product& p) {
  const size_t strip = tile_vectors * lanes();
  size_t column = 0;
  for (; column + strip <= p.columns; column += strip) {
    multiply_strip<banded, tile_vectors, true>(p, column);
  }
  for (; column + lanes() <= p.columns; column += lanes()) {
    multiply_strip<banded, 1, true>(p, column);
  }
  if (column < p.columns) multiply_strip<banded, 1, false>(p, column);
}

/// Carries out a product. Each element is one float32 sum of multiply-adds in the order of l, from
/// 0 or from c, whatever the shape: an element's bits depend on nothing but its row of a and its
/// column of b. Reads and writes nothing past p.columns. With depth 0, c is set to 0 or left as it
/// is.
inline void multiply(const Product& p) {
  if (p.band.has_all()) {
    multiply_strips<false>(p);
  } else {
    multiply_strips<true>(p);
  }
}

}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
