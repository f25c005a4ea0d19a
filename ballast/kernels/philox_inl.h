// Dropout factors by vectors, see dropout.h. Compiled once per instruction set, see vector_inl.h.
#if defined(BALLAST_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_KERNELS_PHILOX_INL_H_
#undef BALLAST_KERNELS_PHILOX_INL_H_
#else
#define BALLAST_KERNELS_PHILOX_INL_H_
#endif

#include "ballast/kernels/drop_row.h"
#include "ballast/kernels/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {

using Words = hn::ScalableTag<uint64_t>;
using WordVector = hn::Vec<Words>;

/// Product of the low halves; what the high halves hold does not matter.
HWY_INLINE WordVector multiply_low(WordVector a, WordVector b) {
#if HWY_TARGET == HWY_SCALAR
  const WordVector low = hn::Set(Words(), 0xFFFFFFFF);
  return hn::Mul(hn::And(a, low), hn::And(b, low));
#else
  const hn::Repartition<uint32_t, Words> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
#endif
}

/// Four columns per lane, from column 4 * quad on: words of lane i at to[4 i .. 4 i + 3].
///
/// A 32-bit word lives in the low half of a lane; its high half holds leftovers, which no step
/// reads.
HWY_INLINE void philox_quads(uint64_t key, uint64_t quad, uint64_t row, uint32_t* to) {
  const Words d;
  const auto multiplier_0 = hn::Set(d, 0xD2511F53), multiplier_1 = hn::Set(d, 0xCD9E8D57);
  WordVector c0 = hn::Iota(d, quad), c1 = hn::ShiftRight<32>(c0);
  WordVector c2 = hn::Set(d, row), c3 = hn::Set(d, row >> 32);
  auto key_0 = static_cast<uint32_t>(key), key_1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const WordVector product_0 = multiply_low(c0, multiplier_0);
    const WordVector product_1 = multiply_low(c2, multiplier_1);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product_1), c1), hn::Set(d, uint64_t{key_0}));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product_0), c3), hn::Set(d, uint64_t{key_1}));
    c1 = product_1;
    c3 = product_0;
    key_0 += 0x9E3779B9;
    key_1 += 0xBB67AE85;
  }
  const WordVector low = hn::Set(d, 0xFFFFFFFF);
  const auto pair = [=](WordVector even, WordVector odd)
                        HWY_ATTR { return hn::Or(hn::And(even, low), hn::ShiftLeft<32>(odd)); };
  hn::StoreInterleaved2(pair(c0, c1), pair(c2, c3), d, reinterpret_cast<uint64_t*>(to));
}

/// Factors 0 or `kept` of columns [0, count) of a row.
inline void drop_factors_of_row(const DropRow& drop, uint64_t row, size_t count, float* to) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words_of;
  constexpr size_t most = 4 * hn::MaxLanes(Words());
  HWY_ALIGN uint32_t words[most];
  HWY_ALIGN float factors[most];
  const size_t step = 4 * hn::Lanes(Words());
  const auto threshold = hn::Set(words_of, drop.threshold);
  for (size_t at = 0; at < count; at += step) {
    philox_quads(drop.key, at / 4, row, words);
    for (size_t i = 0; i < step; i += lanes()) {
      const auto word = hn::Load(words_of, words + i);
      const auto kept = hn::Eq(hn::Max(word, threshold), word);
      const Vector factor = hn::IfThenElseZero(hn::RebindMask(d, kept), hn::Set(d, drop.kept));
      hn::Store(factor, d, factors + i);
    }
    std::memcpy(to + at, factors, std::min(step, count - at) * sizeof(float));
  }
}

}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
