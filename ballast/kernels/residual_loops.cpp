#include "ballast/kernels/residual_loops.h"

#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/kernels/residual_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/kernels/norm_inl.h"
#include "ballast/kernels/philox_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

/// One row on its way through the form; the backward pass walks the same way first.
class Row {
 public:
  explicit Row(const ResidualView& view)
      : view_(view),
        memory_(5 * view.d),
        kept(at(0)),
        middle(at(1)),
        branch(at(2)),
        joined(at(3)),
        gradient(at(4)) {}

  /// Sets `kept`, `middle`, `branch` and `joined`, and the statistics.
  void walk(int64_t row) {
    find_kept(row);
    if (view_.branch != nullptr) walk_branch(row);
    const float* x = view_.shortcut + row * view_.d;
    for_vectors(view_.d, [&](size_t, auto load, auto store) HWY_ATTR {
      Vector sum = hn::Mul(load(x), factor(view_.shortcut_factor, load));
      if (view_.branch != nullptr) {
        sum = hn::MulAdd(load(branch), factor(view_.branch_factor, load), sum);
      }
      store(sum, joined);
    });
    if (view_.norm_out.present) out_statistics = row_statistics(joined, view_.d, view_.norm_out);
  }

  /// Replaces `joined` by its normalised row.
  void normalize() {
    if (view_.norm_out.present) normalize_row(joined, view_.d, out_statistics, joined);
  }

  /// Sets `kept`, and `joined` to the normalised row, as `walk` and `normalize` do.
  void recall(int64_t row, const ResidualResult& result) {
    find_kept(row);
    if (!view_.norm_out.present) return;
    undo_gain(view_.norm_out, result.out + row * view_.d, view_.d, joined);
    out_statistics.inverse = result.slopes[2 * row];
    out_statistics.pull = result.slopes[2 * row + 1];
  }

  template <class Load>
  static Vector factor(const FactorView& factor, const Load& load) {
    return factor.vector == nullptr ? constant(factor.constant) : load(factor.vector);
  }

 private:
  float* at(int64_t part) { return memory_.data() + part * view_.d; }

  void find_kept(int64_t row) {
    if (view_.drop.active()) drop_factors_of_row(view_.drop, row, view_.d, kept);
  }

  void walk_branch(int64_t row) {
    const float* f = view_.branch + row * view_.d;
    const bool drops = view_.drop.active();
    for_vectors(view_.d, [&](size_t, auto load, auto store) HWY_ATTR {
      store(drops ? hn::Mul(load(f), load(kept)) : load(f), branch);
    });
    if (!view_.norm_mid.present) return;
    mid_statistics = row_statistics(branch, view_.d, view_.norm_mid);
    normalize_row(branch, view_.d, mid_statistics, middle);
    apply_gain(view_.norm_mid, middle, view_.d, branch);
  }

  const ResidualView& view_;
  std::vector<float> memory_;

 public:
  float* const kept;      ///< dropout factors
  float* const middle;    ///< normalised branch before gain and bias
  float* const branch;    ///< what the branch factor multiplies
  float* const joined;    ///< what the outer norm sees
  float* const gradient;  ///< free for the backward pass
  RowStatistics mid_statistics, out_statistics;
};

void join(const ResidualView& view, int64_t begin, int64_t end, const ResidualResult& result) {
  Row row(view);
  for (int64_t r = begin; r < end; ++r) {
    row.walk(r);
    row.normalize();
    float* y = result.out + r * view.d;
    if (!view.norm_out.present) {
      std::copy_n(row.joined, view.d, y);
      continue;
    }
    apply_gain(view.norm_out, row.joined, view.d, y);
    result.slopes[2 * r] = row.out_statistics.inverse;
    result.slopes[2 * r + 1] = row.out_statistics.pull;
  }
}

/// sums += a * b, or += a where b is null.
void add_products(const float* a, const float* b, int64_t d, float* sums) {
  for_vectors(d, [&](size_t, auto load, auto store) HWY_ATTR {
    store(b == nullptr ? hn::Add(load(sums), load(a)) : hn::MulAdd(load(a), load(b), load(sums)),
          sums);
  });
}

void multiply_row(const FactorView& factor, const float* x, int64_t d, float* out) {
  for_vectors(d, [&](size_t, auto load, auto store)
                     HWY_ATTR { store(hn::Mul(load(x), Row::factor(factor, load)), out); });
}

class BackwardPass {
 public:
  BackwardPass(const ResidualView& view, const ResidualResult* recalled, float* sums)
      : view_(view), recalled_(recalled), sums_(sums), row_(view) {}

  void run(const ResidualGradient& gradient, int64_t r) {
    const int64_t d = view_.d;
    find(r);
    float* g = row_.gradient;
    std::copy_n(gradient.out + r * d, d, g);
    if (view_.norm_out.present) {
      through_norm(view_.norm_out, row_.out_statistics, row_.joined,
                   {sums_of(RowSum::gain_out), sums_of(RowSum::bias_out)});
    }
    if (gradient.shortcut_factor) {
      add_products(g, view_.shortcut + r * d, d, sums_of(RowSum::shortcut_factor));
    }
    multiply_row(view_.shortcut_factor, g, d, gradient.shortcut + r * d);
    if (gradient.branch == nullptr) return;
    if (gradient.branch_factor) {
      add_products(g, row_.branch, d, sums_of(RowSum::branch_factor));
    }
    into_branch(gradient.branch + r * d);
  }

 private:
  struct NormSums {
    float *gain, *bias;
  };

  void find(int64_t r) {
    if (recalled_ != nullptr) return row_.recall(r, *recalled_);
    row_.walk(r);
    row_.normalize();
  }

  float* sums_of(RowSum kind) { return sums_ + static_cast<int64_t>(kind) * view_.d; }

  void through_norm(const NormView& norm, const RowStatistics& statistics, const float* normalized,
                    NormSums sums) {
    if (norm.gain != nullptr) add_products(row_.gradient, normalized, view_.d, sums.gain);
    if (norm.bias != nullptr) add_products(row_.gradient, nullptr, view_.d, sums.bias);
    norm_gradient_row(norm, statistics, normalized, view_.d, row_.gradient);
  }

  void into_branch(float* out) {
    float* g = row_.gradient;
    multiply_row(view_.branch_factor, g, view_.d, g);
    if (view_.norm_mid.present) {
      through_norm(view_.norm_mid, row_.mid_statistics, row_.middle,
                   {sums_of(RowSum::gain_mid), sums_of(RowSum::bias_mid)});
    }
    multiply_row({1, view_.drop.active() ? row_.kept : nullptr}, g, view_.d, out);
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
