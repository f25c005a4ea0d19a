// Vector arithmetic shared by the loops of the kernels. Highway compiles it once per instruction
// set, hence a guard that toggles instead of `#pragma once`.
//
// For all files that end in `_inl.h`: only the sources of this folder include them, between
// `foreach_target.h` and HWY_EXPORT. Nothing in them has state, so any thread may call anything,
// and everything runs in the calling thread. Arrays are contiguous float32 of any alignment and do
// not overlap, unless a comment says otherwise. Within one instruction set results are the same bit
// for bit; from one to another they may differ in the last ones, for hn::MulAdd rounds once where
// there is a fused instruction and twice elsewhere, and sums run in as many lanes as a vector has.
#if defined(BALLAST_LOOPS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_LOOPS_VECTOR_INL_H_
#undef BALLAST_LOOPS_VECTOR_INL_H_
#else
#define BALLAST_LOOPS_VECTOR_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The widest vector of float32 that the instruction set has, and how many elements it holds.
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

inline size_t lanes() { return hn::Lanes(Floats()); }

/// The first `count` lanes from memory, `fill` in the others; never reads past them.
inline Vector load_part(const float* from, size_t count, float fill = 0.0F) {
  const Floats d;
  HWY_ALIGN float part[hn::MaxLanes(Floats())];
  hn::Store(hn::Set(d, fill), d, part);
  std::memcpy(part, from, count * sizeof(float));
  return hn::Load(d, part);
}

/// The first `count` lanes to memory; never writes past them.
inline void store_part(Vector v, float* to, size_t count) {
  const Floats d;
  HWY_ALIGN float part[hn::MaxLanes(Floats())];
  hn::Store(v, d, part);
  std::memcpy(to, part, count * sizeof(float));
}

/// body(i, load, store) over whole vectors, then over the rest: `load(p)` reads the lanes of
/// element i on from p, `store(v, p)` writes them. Past the end `load` gives 0 and `store` writes
/// nothing, so arrays of exactly `count` elements will do; an array may be both read and written.
template <class Body>
HWY_INLINE void for_vectors(size_t count, const Body& body) {
  const Floats d;
  size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    body(
        i, [=](const float* p) { return hn::LoadU(d, p + i); },
        [=](Vector v, float* p) { hn::StoreU(v, d, p + i); });
  }
  if (const size_t rest = count - i; rest > 0) {
    body(
        i, [=](const float* p) { return load_part(p + i, rest); },
        [=](Vector v, float* p) { store_part(v, p + i, rest); });
  }
}

/// In all lanes, rounded to float32.
inline Vector constant(double value) { return hn::Set(Floats(), static_cast<float>(value)); }

/// Over the lanes.
inline float sum(Vector v) { return hn::GetLane(hn::SumOfLanes(Floats(), v)); }

inline float largest(Vector v) { return hn::GetLane(hn::MaxOfLanes(Floats(), v)); }

/// x, and 0 for a NaN where there are no vectors: there Highway's exponentials convert x to an
/// integer by C++, which leaves that of a NaN undefined.
inline Vector convertible(Vector x) {
  return HWY_TARGET == HWY_SCALAR ? hn::IfThenElseZero(hn::Eq(x, x), x) : x;
}

/// e^x, 0 where it would underflow, for x up to 104; error up to 1 ulp (Highway). Highway's own
/// makes 0 of a NaN, which would hide a divergence; here a NaN stays one.
inline Vector exp(Vector x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Exp(Floats(), convertible(x)), x);
}

/// 1 / (1 + e^-x) by the exponential of -|x|, which cannot overflow; e^x / (1 + e^x) below 0, so
/// that this tail keeps its relative accuracy. A NaN stays one.
inline Vector sigmoid(Vector x) {
  const Vector one = constant(1);
  const Vector small = exp(hn::Neg(hn::Abs(x)));
  const Vector upper = hn::Div(one, hn::Add(one, small));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(Floats())), hn::Mul(small, upper), upper);
}

/// Error up to 4 ulp (Highway). A NaN stays one.
inline Vector tanh(Vector x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Tanh(Floats(), convertible(x)), x);
}

/// Distribution function and density of the standard normal law.
struct Normal {
  Vector below, density;
};

/// With t = |x| / sqrt(2) and u = 1 / (1 + 0.3 t), erfc(t) e^(t^2) / u is a smooth function of u;
/// the polynomial is its Chebyshev fit (relative error below 3e-8 for t up to 10), so that both
/// tails keep their relative accuracy.
inline Normal normal(Vector x) {
  const Vector one = constant(1), half = constant(0.5);
  const Vector u = hn::Div(one, hn::MulAdd(constant(0.3 * 0.70710678118654752), hn::Abs(x), one));
  Vector g = constant(-0.1307708773);
  for (const double c : {0.4919342706, -0.5261516628, 0.5645142422, -0.1069833625, 0.2205391691,
                         0.1467960222, 0.1709491199, 0.1691730577}) {
    g = hn::MulAdd(g, u, constant(c));
  }
  const Vector bell = exp(hn::Mul(hn::Mul(x, x), constant(-0.5)));
  const Vector tail = hn::Mul(hn::Mul(half, bell), hn::Mul(g, u));
  const Vector below = hn::IfThenElse(hn::Lt(x, hn::Zero(Floats())), tail, hn::Sub(one, tail));
  return {below, hn::Mul(bell, constant(0.39894228040143268))};
}

}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
