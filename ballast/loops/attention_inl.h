// What the forward and the backward loops of attention share. Compiled once per instruction set,
// see vector_inl.h.
//
// Matrices of a block of query rows, such as logits and probabilities, are [rows, width] float32,
// width being the number of keys filled up to whole vectors. So loops over a row go by whole
// vectors and may read and write what lies behind the last key.
#if defined(BALLAST_LOOPS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_LOOPS_ATTENTION_INL_H_
#undef BALLAST_LOOPS_ATTENTION_INL_H_
#else
#define BALLAST_LOOPS_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <limits>
#include <memory>

#include "ballast/loops/attention_loops.h"
#include "ballast/loops/philox_inl.h"
#include "ballast/loops/product_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {

using Buffer = std::unique_ptr<float[]>;

/// Of `count` elements, not set to anything.
inline Buffer buffer(size_t count) { return std::make_unique_for_overwrite<float[]>(count); }

/// `count` elements filled up to whole vectors.
inline size_t whole_vectors(size_t count) { return (count + lanes() - 1) / lanes() * lanes(); }

/// Query rows handled at once: few for long rows of keys, so that their logits stay in the cache.
inline int64_t block_rows(int64_t keys) { return std::clamp<int64_t>(32768 / (keys + 1), 6, 60); }

/// Four rows of four elements, transposed, to lines `width` apart: to[j * width + i] is column k +
/// j of row s + i, for i and j below 4.
HWY_INLINE void transpose_four(const HeadRows<const float>& from, int64_t s, int64_t k, float* to,
                               size_t width) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < 16; ++i) to[i / 4 * width + i % 4] = *from.at(s + i % 4, k + i / 4);
#else
  const hn::FixedTag<float, 4> d;
  const auto a = hn::LoadU(d, from.at(s, k)), b = hn::LoadU(d, from.at(s + 1, k));
  const auto c = hn::LoadU(d, from.at(s + 2, k)), e = hn::LoadU(d, from.at(s + 3, k));
  const auto low_ab = hn::InterleaveLower(d, a, b), low_ce = hn::InterleaveLower(d, c, e);
  const auto high_ab = hn::InterleaveUpper(d, a, b), high_ce = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, low_ce, low_ab), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, low_ce, low_ab), d, to + width);
  hn::StoreU(hn::ConcatLowerLower(d, high_ce, high_ab), d, to + 2 * width);
  hn::StoreU(hn::ConcatUpperUpper(d, high_ce, high_ab), d, to + 3 * width);
#endif
}

/// Key or value rows of one head, transposed to [K, keys filled up to whole vectors with zeros].
inline Buffer transposed(const HeadRows<const float>& from, int64_t d_head, int64_t keys) {
  const size_t width = whole_vectors(keys);
  Buffer to = buffer(width * d_head);
  const int64_t fours = keys / 4 * 4;
  int64_t k = 0;
  for (; k + 4 <= d_head; k += 4) {
    float* line = to.get() + k * width;
    for (int64_t s = 0; s < fours; s += 4) transpose_four(from, s, k, line + s, width);
  }
  const int64_t rest = k;
  for (k = 0; k < d_head; ++k) {
    float* line = to.get() + k * width;
    for (int64_t s = k < rest ? fours : 0; s < keys; ++s) line[s] = *from.at(s, k);
    std::fill(line + keys, line + width, 0.0F);
  }
  return to;
}

/// Columns [0, columns) of the first `count` rows.
inline void set_to_zero(const HeadRows<float>& rows, int64_t count, int64_t columns) {
  for (int64_t r = 0; r < count; ++r) std::fill_n(rows.at(r, 0), columns, 0.0F);
}

/// The query rows of one head that are handled at once: `count` of them from row `first` of the
/// sequence on. Arguments `row` and `r` count within the block.
struct Rows {
  const AttentionShape& shape;
  const AttentionSpan& span;
  int64_t first, count, head;

  /// How many keys a row of the block sees: a prefix.
  int64_t visible(int64_t row) const {
    const int64_t all = span.keys;
    return shape.causal ? std::clamp<int64_t>(position(row) + 1, 0, all) : all;
  }
  int64_t most_visible() const { return visible(count - 1); }
  /// Where a row's query stands among the keys.
  int64_t position(int64_t row) const { return span.keys - span.queries + first + row; }
  /// In the packed batch.
  int64_t packed_row(int64_t row) const { return span.query + first + row; }

  /// In sums over keys, the keys that each row sees; in sums over rows, the rows that see each key.
  Band seen_keys() const { return shape.causal ? Band{.end = position(0) + 1} : Band(); }
  Band seeing_rows() const { return shape.causal ? Band{.begin = -position(0)} : Band(); }

  /// Row r of the block in rows of query heads.
  template <class T>
  T* of(const HeadRows<T>& rows, int64_t r = 0) const {
    return rows.at(packed_row(r), head * shape.d_head);
  }
};

/// body(rows) for all blocks of the query heads that key and value head `group` serves: heads
/// group * H/G .. (group + 1) * H/G - 1.
template <class Body>
inline void for_each_block(const AttentionShape& shape, const AttentionSpan& span, int64_t group,
                           const Body& body) {
  const int64_t served = shape.heads / shape.key_value_heads, step = block_rows(span.keys);
  for (int64_t head = group * served; head < (group + 1) * served; ++head) {
    for (int64_t first = 0; first < span.queries; first += step) {
      body(Rows{shape, span, first, std::min(step, span.queries - first), head});
    }
  }
}

/// out = left right: the block's rows of `left` [rows, K] times a `transposed` [K, width], into
/// rows of `width`. Of each row at least the keys that it sees are written, by whole vectors: under
/// a mask, tiles of pairs that see nothing of each other are left out.
inline void multiply_rows(const Rows& rows, const HeadRows<const float>& left, const float* right,
                          float* out) {
  const size_t width = whole_vectors(rows.span.keys);
  constexpr int64_t few = 2 * tile_rows;  // enough for each load of `right`
  const int64_t step = rows.shape.causal ? few : rows.count;
  for (int64_t first = 0; first < rows.count; first += step) {
    const int64_t count = std::min(step, rows.count - first);
    multiply({.a = rows.of(left, first),
              .a_row = static_cast<size_t>(left.row),
              .a_column = 1,
              .b = right,
              .b_row = width,
              .c = out + first * width,
              .c_row = width,
              .rows = static_cast<size_t>(count),
              .columns = whole_vectors(rows.visible(first + count - 1)),
              .depth = static_cast<size_t>(rows.shape.d_head)});
  }
}

/// Products q k of a row to logits, in place: l = c tanh(scale q k / c) + bias with c = soft_cap,
/// or scale q k + bias where c is 0. `bias` may be null and is read by whole vectors. Returns the
/// largest that is visible, the lowest float when none is.
inline float finish_logits(const AttentionShape& shape, int64_t visible, float* row,
                           const float* bias = nullptr) {
  const Floats d;
  const Vector scale = hn::Set(d, shape.scale), cap = hn::Set(d, shape.soft_cap);
  Vector most = hn::Set(d, -std::numeric_limits<float>::max());
  for (int64_t i = 0; i < visible; i += static_cast<int64_t>(lanes())) {
    Vector logit = hn::Mul(hn::LoadU(d, row + i), scale);
    if (shape.soft_cap > 0) logit = hn::Mul(cap, tanh(hn::Div(logit, cap)));
    if (bias != nullptr) logit = hn::Add(logit, hn::LoadU(d, bias + i));
    hn::StoreU(logit, d, row + i);
    const auto seen = hn::FirstN(d, visible - i);
    most = hn::Max(most, hn::IfThenElse(seen, logit, most));
  }
  return largest(most);
}

/// exp(logit - shift) where visible, and 0 in the rest of the last vector; returns the sum, taken
/// in float32. `out` may be `logits`.
inline float exponentials(const float* logits, float shift, int64_t visible, float* out) {
  const Floats d;
  Vector total = hn::Zero(d);
  for (int64_t i = 0; i < visible; i += static_cast<int64_t>(lanes())) {
    const auto seen = hn::FirstN(d, visible - i);
    const Vector shifted = hn::Sub(hn::LoadU(d, logits + i), hn::Set(d, shift));
    const Vector e = hn::IfThenElseZero(seen, exp(shifted));
    total = hn::Add(total, e);
    hn::StoreU(e, d, out + i);
  }
  return sum(total);
}

/// row[i] *= factor * factors[i] for i below `end`, a number of whole vectors; factors null: all 1.
inline void scale_row(float* row, float factor, const float* factors, int64_t end) {
  const Floats d;
  for (int64_t i = 0; i < end; i += static_cast<int64_t>(lanes())) {
    Vector v = hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor));
    if (factors != nullptr) v = hn::Mul(v, hn::LoadU(d, factors + i));
    hn::StoreU(v, d, row + i);
  }
}

/// Dropout factors of a row's first `end` keys, or null where nothing is dropped: those of row
/// (packed row) H + head of the mask. They lie in `scratch` [end].
inline const float* factors_of(const Rows& rows, int64_t row, int64_t end, float* scratch) {
  const DropRow& drop = rows.shape.drop;
  if (!drop.active()) return nullptr;
  drop_factors_of_row(drop, rows.packed_row(row) * rows.shape.heads + rows.head, end, scratch);
  return scratch;
}

/// The rows of one sequence and one head of keys or values: [S, K], row 0 being its first key.
template <class T>
HeadRows<T> head_of(const HeadRows<T>& rows, const AttentionSpan& span, int64_t group,
                    int64_t d_head) {
  return {rows.at(span.key, group * d_head), rows.row};
}

/// out = weights right, of the block's rows of `out`: [rows, width] times the rows of a head of
/// keys or values [S, K], see `head_of`. Each row takes only the keys that it sees.
inline Product mix(const Rows& rows, const float* weights, const HeadRows<const float>& right,
                   const HeadRows<float>& out) {
  return {.a = weights,
          .a_row = whole_vectors(rows.span.keys),
          .a_column = 1,
          .b = right.data,
          .b_row = static_cast<size_t>(right.row),
          .c = rows.of(out),
          .c_row = static_cast<size_t>(out.row),
          .rows = static_cast<size_t>(rows.count),
          .columns = static_cast<size_t>(rows.shape.d_head),
          .depth = static_cast<size_t>(rows.most_visible()),
          .band = rows.seen_keys()};
}

/// out += weights^T right: [width, rows] times the block's rows of a query head [rows, K], added to
/// a head of keys or values [S, K], see `head_of`. Each key takes only the rows that see it.
inline Product mix_back(const Rows& rows, const float* weights, const HeadRows<const float>& right,
                        const HeadRows<float>& out) {
  return {.a = weights,
          .a_row = 1,
          .a_column = whole_vectors(rows.span.keys),
          .b = rows.of(right),
          .b_row = static_cast<size_t>(right.row),
          .c = out.data,
          .c_row = static_cast<size_t>(out.row),
          .rows = static_cast<size_t>(rows.most_visible()),
          .columns = static_cast<size_t>(rows.shape.d_head),
          .depth = static_cast<size_t>(rows.count),
          .add = true,
          .band = rows.seeing_rows()};
}

/// Sum of a[i] b[i] in float32, in as many partial sums as a vector has lanes.
inline float dot(const float* a, const float* b, int64_t count) {
  Vector total = hn::Zero(Floats());
  for_vectors(count, [&](size_t, auto load, auto)
                         HWY_ATTR { total = hn::MulAdd(load(a), load(b), total); });
  return sum(total);
}

}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
