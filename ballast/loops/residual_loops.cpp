#include "ballast/loops/residual_loops.h"

#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/residual_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/norm_inl.h"
#include "ballast/loops/philox_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

template <class Load>
HWY_INLINE Vector times(Vector v, const FactorView& factor, const Load& load) {
  return hn::Mul(v, factor.vector == nullptr ? constant(factor.constant) : load(factor.vector));
}

/// One row on its way through the form; the backward pass walks the same way first.
class Row {
 public:
  explicit Row(const ResidualView& view)
      : view_(view),
        memory_(6 * view.d),
        kept(at(0)),
        middle(at(1)),
        branch(at(2)),
        joined(at(3)),
        gradient(at(4)),
        inverse_gain(at(5)) {}

  /// Sets `kept`, `middle`, `branch` and `seen`, and the statistics.
  void walk(int64_t row) {
    find_kept(row);
    const float* x = view_.shortcut + row * view_.d;
    seen = joined;
    if (view_.branch == nullptr && view_.shortcut_factor.is_one()) {
      seen = x;
    } else if (view_.branch == nullptr) {
      for_vectors(view_.d, [&](size_t, auto load, auto store) HWY_ATTR {
        store(times(load(x), view_.shortcut_factor, load), joined);
      });
    } else {
      join(x, view_.branch + row * view_.d);
    }
    if (view_.norm_out.present) out_statistics = row_statistics(seen, view_.d, view_.norm_out);
  }

  /// Sets `joined` to the normalised row.
  void normalize() {
    if (view_.norm_out.present) normalize_row(seen, view_.d, out_statistics, joined);
  }

  /// Once, before any row is recalled.
  void prepare_to_recall() {
    if (view_.norm_out.gain == nullptr) return;
    for (int64_t i = 0; i < view_.d; ++i) inverse_gain[i] = 1 / view_.norm_out.gain[i];
  }

  /// Sets `kept` and `joined` as `walk` and `normalize` do.
  void recall(int64_t row, const ResidualResult& result) {
    find_kept(row);
    if (!view_.norm_out.present) return;
    undo_gain(view_.norm_out, inverse_gain, result.out + row * view_.d, view_.d, joined);
    out_statistics.inverse = result.slopes[2 * row];
    out_statistics.pull = result.slopes[2 * row + 1];
  }

  template <class Load>
  HWY_INLINE Vector dropped(Vector v, const Load& load) const {
    return view_.drop.active() ? hn::Mul(v, load(kept)) : v;
  }

 private:
  float* at(int64_t part) { return memory_.data() + part * view_.d; }

  void find_kept(int64_t row) {
    if (view_.drop.active()) drop_factors_of_row(view_.drop, row, view_.d, kept);
  }

  void join(const float* x, const float* f) {
    if (view_.norm_mid.present) norm_branch(f);
    for_vectors(view_.d, [&](size_t, auto load, auto store) HWY_ATTR {
      const Vector b = view_.norm_mid.present ? load(branch) : dropped(load(f), load);
      const Vector a = times(load(x), view_.shortcut_factor, load);
      store(b, branch);
      store(hn::Add(a, times(b, view_.branch_factor, load)), joined);
    });
  }

  void norm_branch(const float* f) {
    for_vectors(view_.d, [&](size_t, auto load, auto store)
                             HWY_ATTR { store(dropped(load(f), load), branch); });
    mid_statistics = row_statistics(branch, view_.d, view_.norm_mid);
    normalize_row(branch, view_.d, mid_statistics, middle);
    norm_row(view_.norm_mid, branch, view_.d, mid_statistics, branch);
  }

  const ResidualView& view_;
  std::vector<float> memory_;

 public:
  float* const kept;      ///< dropout factors
  float* const middle;    ///< normalised branch before gain and bias
  float* const branch;    ///< what the branch factor multiplies
  float* const joined;    ///< a * x + b * branch, and later its normalised row
  float* const gradient;  ///< free for the backward pass
  float* const inverse_gain;
  const float* seen = nullptr;  ///< what the outer norm sees: `joined`, or x itself
  RowStatistics mid_statistics, out_statistics;
};

void join(const ResidualView& view, int64_t begin, int64_t end, const ResidualResult& result) {
  Row row(view);
  for (int64_t r = begin; r < end; ++r) {
    row.walk(r);
    float* y = result.out + r * view.d;
    if (!view.norm_out.present) {
      std::copy_n(row.seen, view.d, y);
      continue;
    }
    norm_row(view.norm_out, row.seen, view.d, row.out_statistics, y);
    result.slopes[2 * r] = row.out_statistics.inverse;
    result.slopes[2 * r + 1] = row.out_statistics.pull;
  }
}

class BackwardPass {
 public:
  BackwardPass(const ResidualView& view, const ResidualResult* recalled, float* sums)
      : view_(view), recalled_(recalled), sums_(sums), row_(view) {
    if (recalled != nullptr) row_.prepare_to_recall();
  }

  void run(const ResidualGradient& gradient, int64_t r) {
    find(r);
    const float* out = gradient.out + r * view_.d;
    if (!view_.norm_out.present) {
      for_vectors(view_.d, [&](size_t, auto load, auto store)
                               HWY_ATTR { split(gradient, r, load(out), load, store); });
    } else {
      norm_gradient_row(view_.norm_out, row_.out_statistics, row_.joined, view_.d, out,
                        {sums_of(RowSum::gain_out), sums_of(RowSum::bias_out)}, row_.gradient,
                        [&](Vector g, auto load, auto store)
                            HWY_ATTR { split(gradient, r, g, load, store); });
    }
    if (gradient.branch == nullptr || !view_.norm_mid.present) return;
    norm_gradient_row(view_.norm_mid, row_.mid_statistics, row_.middle, view_.d, row_.gradient,
                      {sums_of(RowSum::gain_mid), sums_of(RowSum::bias_mid)}, row_.gradient,
                      [&](Vector g, auto load, auto store) HWY_ATTR {
                        store(row_.dropped(g, load), gradient.branch + r * view_.d);
                      });
  }

 private:
  void find(int64_t r) {
    if (recalled_ != nullptr) return row_.recall(r, *recalled_);
    row_.walk(r);
    row_.normalize();
  }

  float* sums_of(RowSum kind) const { return sums_ + static_cast<int64_t>(kind) * view_.d; }

  /// A vector of the gradient of row r of a * x + b * branch, to where it goes on from there.
  template <class Load, class Store>
  HWY_INLINE void split(const ResidualGradient& gradient, int64_t r, Vector g, const Load& load,
                        const Store& store) const {
    const int64_t row = r * view_.d;
    if (gradient.shortcut_factor) {
      float* sums = sums_of(RowSum::shortcut_factor);
      store(hn::MulAdd(g, load(view_.shortcut + row), load(sums)), sums);
    }
    store(times(g, view_.shortcut_factor, load), gradient.shortcut + row);
    if (gradient.branch == nullptr) return;
    if (gradient.branch_factor) {
      float* sums = sums_of(RowSum::branch_factor);
      store(hn::MulAdd(g, load(row_.branch), load(sums)), sums);
    }
    const Vector b = times(g, view_.branch_factor, load);
    view_.norm_mid.present ? store(b, row_.gradient)
                           : store(row_.dropped(b, load), gradient.branch + row);
  }

  const ResidualView& view_;
  const ResidualResult* recalled_;
  float* sums_;
  Row row_;
};

void join_backward(const ResidualView& view, const ResidualResult* recalled,
                   const ResidualGradient& gradient, int64_t begin, int64_t end, float* sums) {
  BackwardPass pass(view, recalled, sums);
  for (int64_t row = begin; row < end; ++row) pass.run(gradient, row);
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(join);
HWY_EXPORT(join_backward);

}  // namespace

void join_rows(const ResidualView& view, int64_t begin, int64_t end, const ResidualResult& result) {
  HWY_DYNAMIC_DISPATCH(join)(view, begin, end, result);
}

void join_rows_backward(const ResidualView& view, const ResidualResult* recalled,
                        const ResidualGradient& gradient, int64_t begin, int64_t end, float* sums) {
  HWY_DYNAMIC_DISPATCH(join_backward)(view, recalled, gradient, begin, end, sums);
}

bool invertible(const NormView& norm, int64_t d) {
  // y = gain n + bias is off by a rounding of the larger term, and then divided by the gain.
  constexpr float smallest_gain = 1e-20F;
  for (int64_t i = 0; i < d; ++i) {
    const float gain = norm.gain == nullptr ? 1 : std::abs(norm.gain[i]);
    const float bias = norm.bias == nullptr ? 0 : std::abs(norm.bias[i]);
    if (!(gain >= smallest_gain && bias <= gain)) return false;
  }
  return true;
}

}  // namespace ballast
#endif
