#include "ballast/loops/adam_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/adam_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

struct Factors {
  explicit Factors(const AdamUpdate& u)
      : beta1(constant(u.beta1)),
        beta2(constant(u.beta2)),
        rest1(constant(1 - u.beta1)),
        rest2(constant(1 - u.beta2)),
        gradient_scale(constant(u.gradient_scale)),
        l2(constant(u.l2)),
        decay(constant(u.decay)),
        step(constant(u.step)),
        root(constant(u.root)),
        epsilon(constant(u.epsilon)) {}

  Vector beta1, beta2, rest1, rest2, gradient_scale, l2, decay, step, root, epsilon;
};

// Products and sums are rounded one by one, so that instruction sets with and without fused
// multiply-add agree in every bit; memory, not arithmetic, sets the pace.
void update_range(const AdamArrays& arrays, int64_t begin, int64_t end) {
  const Factors n(arrays.update);
  float* const value = arrays.value + begin;
  float* const first = arrays.first_moment + begin;
  float* const second = arrays.second_moment + begin;
  const float* const gradient = arrays.gradient == nullptr ? nullptr : arrays.gradient + begin;
  for_vectors(end - begin, [&](size_t, auto load, auto store) HWY_ATTR {
    const Vector w = load(value);
    const Vector raw = gradient == nullptr ? constant(0) : load(gradient);
    const Vector g = hn::Add(hn::Mul(n.gradient_scale, raw), hn::Mul(n.l2, w));
    const Vector m = hn::Add(hn::Mul(n.beta1, load(first)), hn::Mul(n.rest1, g));
    const Vector square = hn::Mul(hn::Mul(n.rest2, g), g);
    const Vector v = hn::Add(hn::Mul(n.beta2, load(second)), square);
    const Vector size = hn::Add(hn::Mul(n.root, hn::Sqrt(v)), n.epsilon);
    const Vector move = hn::Div(hn::Mul(n.step, m), size);
    store(m, first);
    store(v, second);
    store(hn::Sub(w, hn::Add(hn::Mul(n.decay, w), move)), value);
  });
}

double square_sum(const float* values, int64_t count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto width = static_cast<int64_t>(hn::Lanes(d));
  const auto squared = [&](int64_t i) HWY_ATTR {
    const auto wide = hn::PromoteTo(d, hn::LoadU(narrow, values + i));
    return hn::Mul(wide, wide);
  };
  auto a = hn::Zero(d), b = a, c = a, e = a;  // independent sums, which need not wait for another
  int64_t i = 0;
  for (; i + 4 * width <= count; i += 4 * width) {
    a = hn::Add(a, squared(i));
    b = hn::Add(b, squared(i + width));
    c = hn::Add(c, squared(i + 2 * width));
    e = hn::Add(e, squared(i + 3 * width));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < count; ++i) sum += double{values[i]} * values[i];
  return sum;
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(update_range);
HWY_EXPORT(square_sum);

}  // namespace

void adam_range(const AdamArrays& arrays, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(update_range)(arrays, begin, end);
}

double squares_of_range(const float* values, int64_t begin, int64_t end) {
  return HWY_DYNAMIC_DISPATCH(square_sum)(values + begin, end - begin);
}

}  // namespace ballast
#endif
