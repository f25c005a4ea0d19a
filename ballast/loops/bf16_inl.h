// Loops over float32 and bfloat16 memory side by side: arithmetic is float32, and bfloat16, the
// upper half of a float32 held as a uint16_t, is only a way to store it. Compiled once per
// instruction set, see vector_inl.h.
#if defined(BALLAST_LOOPS_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_LOOPS_BF16_INL_H_
#undef BALLAST_LOOPS_BF16_INL_H_
#else
#define BALLAST_LOOPS_BF16_INL_H_
#endif

#include "ballast/loops/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {

using Words = hn::Rebind<uint32_t, Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;

/// To the nearest bfloat16, of two equally near ones to the even one; a NaN stays one, but quiet.
inline hn::Vec<Halves> narrow(Vector v) {
  const Words d;
  const auto bits = hn::BitCast(d, v);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(d, 1));
  const auto nearest = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7FFF))));
  const auto quiet = hn::Or(upper, hn::Set(d, 0x40));
  const auto number = hn::RebindMask(d, hn::Eq(v, v));
  const auto chosen = hn::IfThenElse(number, nearest, quiet);
  return hn::DemoteTo(Halves(), hn::BitCast(hn::Rebind<int32_t, Floats>(), chosen));
}

/// Exact.
inline Vector widen(hn::Vec<Halves> v) {
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), v)));
}

/// The lanes of element i on; all of them when `whole`, else the first `count`. Loads and stores
/// touch no element besides these, at any alignment; lanes past `count` are loaded as 0. Stores to
/// uint16_t round, see `narrow`.
template <bool whole>
struct Place {
  size_t i, count;

  HWY_INLINE Vector load(const float* from) const {
    return whole ? hn::LoadU(Floats(), from + i) : load_part(from + i, count);
  }
  HWY_INLINE Vector load(const uint16_t* from) const {
    if constexpr (whole) return widen(hn::LoadU(Halves(), from + i));
    HWY_ALIGN uint16_t part[hn::MaxLanes(Halves())] = {};
    std::memcpy(part, from + i, count * sizeof(uint16_t));
    return widen(hn::Load(Halves(), part));
  }
  HWY_INLINE void store(Vector v, float* to) const {
    whole ? hn::StoreU(v, Floats(), to + i) : store_part(v, to + i, count);
  }
  HWY_INLINE void store(Vector v, uint16_t* to) const {
    if constexpr (whole) return hn::StoreU(narrow(v), Halves(), to + i);
    HWY_ALIGN uint16_t part[hn::MaxLanes(Halves())];
    hn::Store(narrow(v), Halves(), part);
    std::memcpy(to + i, part, count * sizeof(uint16_t));
  }
};

/// body(place) over whole vectors, then over the rest, of arrays of `count` elements: float32 and
/// bfloat16 ones with the same place.
template <class Body>
HWY_INLINE void for_places(size_t count, const Body& body) {
  size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) body(Place<true>{i, lanes()});
  if (i < count) body(Place<false>{i, count - i});
}

}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
