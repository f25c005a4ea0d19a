// Normalisation of one row. Compiled once per instruction set, see vector_inl.h.
#if defined(BALLAST_KERNELS_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_KERNELS_NORM_INL_H_
#undef BALLAST_KERNELS_NORM_INL_H_
#else
#define BALLAST_KERNELS_NORM_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "ballast/kernels/residual_loops.h"
#include "ballast/kernels/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {

/// Sum of f(i, load) over the vectors of a row, by blocks, so that an outlier costs only the digits
/// of its own block; narrow vectors, whose lanes hold more of it, take smaller ones. Lanes past the
/// end read 0, so f must give 0 there.
template <class F>
HWY_INLINE float row_sum(int64_t d, const F& f) {
  constexpr auto block = std::min<int64_t>(256, 32 * hn::MaxLanes(Floats()));
  double total = 0;
  for (int64_t at = 0; at < d; at += block) {
    Vector part = hn::Zero(Floats());
    for_vectors(std::min(block, d - at), [&](size_t i, auto load, auto) HWY_ATTR {
      part = hn::Add(part, f(at + i, [&](const float* p) HWY_ATTR { return load(p + at); }));
    });
    total += sum(part);
  }
  return static_cast<float>(total);
}

/// Lanes of the row at element i that exist; others become 0.
HWY_INLINE Vector within(int64_t d, size_t i, Vector v) {
  return hn::IfThenElseZero(hn::FirstN(Floats(), d - i), v);
}

/// normalised = (x - shift - mean) * inverse.
struct RowStatistics {
  float shift = 0, mean = 0, inverse = 1;
  float pull = 0;  ///< d log(divisor) / d log(root of the mean square): 1 when eps is negligible
};

inline RowStatistics divided(RowStatistics row, float mean_square, const NormView& norm) {
  // A row of zeros has no slope; the smallest float keeps it from being 0 / 0.
  constexpr float tiny = std::numeric_limits<float>::min();
  const float eps = norm.spec.eps;
  if (norm.spec.placement == EpsPlacement::inside_root) {
    row.inverse = 1 / std::sqrt(std::max(mean_square + eps, tiny));
    row.pull = 1;
    return row;
  }
  const float root = std::sqrt(std::max(mean_square, tiny));
  const bool outside = norm.spec.placement == EpsPlacement::outside_root;
  const float divisor = outside ? root + eps : std::max(root, eps);
  row.inverse = 1 / divisor;
  row.pull = outside ? divisor / root : (root > eps ? 1.0F : 0.0F);
  return row;
}

/// The first element as a shift makes a large common offset vanish before anything is rounded.
inline RowStatistics row_statistics(const float* x, int64_t d, const NormView& norm) {
  RowStatistics row;
  if (norm.spec.statistic == Statistic::layer) {
    row.shift = x[0];
    const Vector shift = constant(row.shift);
    row.mean = row_sum(d, [&](size_t i, auto load)
                              HWY_ATTR { return within(d, i, hn::Sub(load(x), shift)); }) /
               static_cast<float>(d);
  }
  const Vector shift = constant(row.shift), mean = constant(row.mean);
  const float squares = row_sum(d, [&](size_t i, auto load) HWY_ATTR {
    const Vector c = within(d, i, hn::Sub(hn::Sub(load(x), shift), mean));
    return hn::Mul(c, c);
  });
  return divided(row, squares / static_cast<float>(d), norm);
}

/// The normalised row without gain and bias; may be done in place.
inline void normalize_row(const float* x, int64_t d, const RowStatistics& row, float* out) {
  const Vector shift = constant(row.shift), mean = constant(row.mean);
  const Vector inverse = constant(row.inverse);
  for_vectors(d, [&](size_t, auto load, auto store) HWY_ATTR {
    store(hn::Mul(hn::Sub(hn::Sub(load(x), shift), mean), inverse), out);
  });
}

inline void apply_gain(const NormView& norm, const float* x, int64_t d, float* out) {
  for_vectors(d, [&](size_t, auto load, auto store) HWY_ATTR {
    Vector y = load(x);
    if (norm.gain != nullptr) y = hn::Mul(y, load(norm.gain));
    if (norm.bias != nullptr) y = hn::Add(y, load(norm.bias));
    store(y, out);
  });
}

/// What `apply_gain` was given, from what it made.
inline void undo_gain(const NormView& norm, const float* y, int64_t d, float* out) {
  for_vectors(d, [&](size_t, auto load, auto store) HWY_ATTR {
    Vector x = load(y);
    if (norm.bias != nullptr) x = hn::Sub(x, load(norm.bias));
    if (norm.gain != nullptr) x = hn::Div(x, load(norm.gain));
    store(x, out);
  });
}

/// Gradient of the row before the norm from that after it, in place; `normalized` as above.
inline void norm_gradient_row(const NormView& norm, const RowStatistics& row,
                              const float* normalized, int64_t d, float* gradient) {
  if (norm.gain != nullptr) {
    for_vectors(d, [&](size_t, auto load, auto store)
                       HWY_ATTR { store(hn::Mul(load(gradient), load(norm.gain)), gradient); });
  }
  const auto n = static_cast<float>(d);
  const float mean =
      norm.spec.statistic == Statistic::layer
          ? row_sum(d, [&](size_t, auto load) HWY_ATTR { return load(gradient); }) / n
          : 0;
  const float along =
      row_sum(d, [&](size_t, auto load)
                     HWY_ATTR { return hn::Mul(load(gradient), load(normalized)); }) /
      n;
  const Vector drop = constant(row.pull * along), center = constant(mean);
  const Vector inverse = constant(row.inverse);
  for_vectors(d, [&](size_t, auto load, auto store) HWY_ATTR {
    const Vector g = hn::NegMulAdd(load(normalized), drop, hn::Sub(load(gradient), center));
    store(hn::Mul(g, inverse), gradient);
  });
}

}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
