// Normalisation of one row x [d] and its gradient:
//
//     n = (x - mean) / divisor        y = gain n + bias
//
// with the mean 0 for `Statistic::rms` and the divisor by `EpsPlacement`. Compiled once per
// instruction set, see vector_inl.h.
#if defined(BALLAST_LOOPS_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_LOOPS_NORM_INL_H_
#undef BALLAST_LOOPS_NORM_INL_H_
#else
#define BALLAST_LOOPS_NORM_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cmath>

#include "ballast/loops/residual_loops.h"
#include "ballast/loops/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {

/// Elements that a row is summed by, so that an outlier costs only the digits of its own block;
/// narrow vectors, whose lanes hold more of it, take smaller ones.
constexpr auto sum_block = std::min<int64_t>(256, 32 * hn::MaxLanes(Floats()));

/// N sums over the vectors of a row, f(load, store, sums) adding to each. Lanes past the end read
/// 0, so f must add 0 there. `load` and `store` take arrays of d elements. Blocks are summed in
/// float32 and added in float64.
template <size_t N, class F>
HWY_INLINE std::array<float, N> sums_of_row(int64_t d, const F& f) {
  std::array<double, N> totals{};
  for (int64_t at = 0; at < d; at += sum_block) {
    Vector parts[N];
    for (Vector& part : parts) part = hn::Zero(Floats());
    for_vectors(std::min(sum_block, d - at), [&](size_t, auto load, auto store) HWY_ATTR {
      f([&](const float* p) HWY_ATTR { return load(p + at); },
        [&](Vector v, float* p) HWY_ATTR { store(v, p + at); }, parts);
    });
    for (size_t k = 0; k < N; ++k) totals[k] += sum(parts[k]);
  }
  std::array<float, N> rounded;
  std::copy(totals.begin(), totals.end(), rounded.begin());
  return rounded;
}

/// Sum of f(load) over the elements of a row, which lanes past the end do not enter. Four partial
/// sums keep an addition from waiting for the one before it. Blocks as in `sums_of_row`.
template <class F>
HWY_INLINE float row_sum(int64_t d, const F& f) {
  const Floats tag;
  const auto width = static_cast<int64_t>(lanes());
  const auto whole = [&](int64_t i) HWY_ATTR {
    return f([&](const float* p) HWY_ATTR { return hn::LoadU(tag, p + i); });
  };
  double total = 0;
  for (int64_t at = 0; at < d; at += sum_block) {
    const int64_t end = std::min(at + sum_block, d);
    Vector parts[4];
    for (Vector& part : parts) part = hn::Zero(tag);
    int64_t i = at;
    for (; i + 4 * width <= end; i += 4 * width) {
      for (int64_t k = 0; k < 4; ++k) parts[k] = hn::Add(parts[k], whole(i + k * width));
    }
    for (; i + width <= end; i += width) parts[0] = hn::Add(parts[0], whole(i));
    if (i < end) {
      const Vector rest = f([&](const float* p) HWY_ATTR { return load_part(p + i, end - i); });
      parts[1] = hn::Add(parts[1], hn::IfThenElseZero(hn::FirstN(tag, end - i), rest));
    }
    total += sum(hn::Add(hn::Add(parts[0], parts[1]), hn::Add(parts[2], parts[3])));
  }
  return static_cast<float>(total);
}

/// normalised = (x - shift - mean) * inverse. `shift` is what is taken away before the mean is
/// formed, `mean` the mean of what is left, `inverse` 1 / divisor.
struct RowStatistics {
  float shift = 0, mean = 0, inverse = 1;
  /// d(divisor^2) / d(s) with s the variance or mean square: 1 inside the root, (sqrt(s) + eps) /
  /// sqrt(s) outside of it, and where eps clamps 1 above it and 0 below.
  float pull = 0;
};

HWY_INLINE Vector normalized(Vector x, const RowStatistics& row) {
  return hn::Mul(hn::Sub(hn::Sub(x, constant(row.shift)), constant(row.mean)),
                 constant(row.inverse));
}

/// gain x + bias; what is null is left out.
template <class Load>
HWY_INLINE Vector with_gain(const NormView& norm, Vector x, const Load& load) {
  if (norm.gain != nullptr) x = hn::Mul(x, load(norm.gain));
  if (norm.bias != nullptr) x = hn::Add(x, load(norm.bias));
  return x;
}

/// Sets `inverse` and `pull` from s, the mean of the squares of x - shift - mean.
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

/// The statistics of x [d], d > 0, in two passes: the mean, then the squares of what differs from
/// it. The first element as a shift makes a large common offset vanish before anything is rounded.
inline RowStatistics row_statistics(const float* x, int64_t d, const NormView& norm) {
  RowStatistics row;
  if (norm.spec.statistic == Statistic::layer) {
    row.shift = x[0];
    const Vector shift = constant(row.shift);
    row.mean = row_sum(d, [&](auto load) HWY_ATTR { return hn::Sub(load(x), shift); }) /
               static_cast<float>(d);
  }
  const Vector shift = constant(row.shift), mean = constant(row.mean);
  const float squares = row_sum(d, [&](auto load) HWY_ATTR {
    const Vector c = hn::Sub(hn::Sub(load(x), shift), mean);
    return hn::Mul(c, c);
  });
  return divided(row, squares / static_cast<float>(d), norm);
}

/// The normalised row without gain and bias; may be done in place.
inline void normalize_row(const float* x, int64_t d, const RowStatistics& row, float* out) {
  for_vectors(
      d, [&](size_t, auto load, auto store) HWY_ATTR { store(normalized(load(x), row), out); });
}

/// The same with gain and bias; may be done in place.
inline void norm_row(const NormView& norm, const float* x, int64_t d, const RowStatistics& row,
                     float* out) {
  for_vectors(d, [&](size_t, auto load, auto store)
                     HWY_ATTR { store(with_gain(norm, normalized(load(x), row), load), out); });
}

/// The normalised row from what `norm_row` made of it; `inverse_gain` [d], 1 / gain, where there is
/// a gain. Only exact enough where the norm is `invertible`.
inline void undo_gain(const NormView& norm, const float* inverse_gain, const float* y, int64_t d,
                      float* out) {
  for_vectors(d, [&](size_t, auto load, auto store) HWY_ATTR {
    Vector x = load(y);
    if (norm.bias != nullptr) x = hn::Sub(x, load(norm.bias));
    if (norm.gain != nullptr) x = hn::Mul(x, load(inverse_gain));
    store(x, out);
  });
}

/// Where the gradients of a norm's parameters are added up over rows, each [d]; those of a
/// parameter that the norm has not are not touched.
struct NormSums {
  float *gain, *bias;
};

/// Calls finish(g, load, store) with each vector g of the gradient before the norm, and adds to the
/// sums. `incoming` is the gradient after the norm, `normalized` the row n that `normalize_row`
/// makes; `scratch` [d] may be `incoming`, and finish may write to its own elements of it.
///
///     h = gain incoming     g = (h - mean(h) - pull n mean(h n)) / divisor  (rms: without mean(h))
///     sums.gain += incoming n     sums.bias += incoming
template <class Finish>
HWY_INLINE void norm_gradient_row(const NormView& norm, const RowStatistics& row,
                                  const float* normalized, int64_t d, const float* incoming,
                                  const NormSums& sums, float* scratch, const Finish& finish) {
  const auto [all, along] = sums_of_row<2>(d, [&](auto load, auto store, Vector* parts) HWY_ATTR {
    const Vector n = load(normalized);
    Vector g = load(incoming);
    if (norm.bias != nullptr) store(hn::Add(load(sums.bias), g), sums.bias);
    if (norm.gain != nullptr) {
      store(hn::MulAdd(g, n, load(sums.gain)), sums.gain);
      g = hn::Mul(g, load(norm.gain));
    }
    store(g, scratch);
    parts[0] = hn::Add(parts[0], g);
    parts[1] = hn::MulAdd(g, n, parts[1]);
  });
  const auto n = static_cast<float>(d);
  const Vector center = constant(norm.spec.statistic == Statistic::layer ? all / n : 0);
  const Vector drop = constant(row.pull * (along / n)), inverse = constant(row.inverse);
  for_vectors(d, [&](size_t, auto load, auto store) HWY_ATTR {
    const Vector g = hn::NegMulAdd(load(normalized), drop, hn::Sub(load(scratch), center));
    finish(hn::Mul(g, inverse), load, store);
  });
}

}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
