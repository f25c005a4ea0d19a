// Dropout factors by vectors: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
// as 1, 2, 3") with the same words as `philox` of base/philox.h, for many counters at once. See
// `drop_factors`. Compiled once per instruction set, see vector_inl.h.
#if defined(BALLAST_LOOPS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BALLAST_LOOPS_PHILOX_INL_H_
#undef BALLAST_LOOPS_PHILOX_INL_H_
#else
#define BALLAST_LOOPS_PHILOX_INL_H_
#endif

#include "ballast/loops/drop_row.h"
#include "ballast/loops/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {

using Words = hn::ScalableTag<uint64_t>;
using WordVector = hn::Vec<Words>;

/// Product of the low halves, 64 bits; what the high halves hold does not matter.
HWY_INLINE WordVector multiply_low(WordVector a, WordVector b) {
#if HWY_TARGET == HWY_SCALAR
  const WordVector low = hn::Set(Words(), 0xFFFFFFFF);
  return hn::Mul(hn::And(a, low), hn::And(b, low));
#else
  const hn::Repartition<uint32_t, Words> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
#endif
}

/// The two 32-bit keys of each of the ten rounds, made once for many counters.
class RoundKeys {
 public:
  explicit RoundKeys(uint64_t key) {
    auto first = static_cast<uint32_t>(key), second = static_cast<uint32_t>(key >> 32);
    for (Round& round : rounds_) {
      round = {first, second};
      first += 0x9E3779B9;
      second += 0xBB67AE85;
    }
  }

  struct Round {
    uint64_t first, second;
  };

  const Round* begin() const { return rounds_; }
  const Round* end() const { return rounds_ + 10; }

 private:
  Round rounds_[10];
};

/// Vectors of counters on their way through the rounds together, so that one's multiplications
/// take place while those of the other are waited for.
constexpr size_t philox_together = 2;

/// Four columns per lane, from column 4 * quad on: words of lane i at to[4 i .. 4 i + 3], for
/// `philox_together` vectors. They are philox(key, quad + i, row); `to` needs room for
/// 4 * philox_together * hn::Lanes(Words()) of them.
///
/// A 32-bit word lives in the low half of a lane; its high half holds leftovers, which no step
/// reads.
HWY_INLINE void philox_quads(const RoundKeys& keys, uint64_t quad, uint64_t row, uint32_t* to) {
  const Words d;
  const size_t lanes = hn::Lanes(d);
  const auto multiplier_0 = hn::Set(d, 0xD2511F53), multiplier_1 = hn::Set(d, 0xCD9E8D57);
  WordVector c0[philox_together], c1[philox_together], c2[philox_together], c3[philox_together];
  for (size_t i = 0; i < philox_together; ++i) {
    c0[i] = hn::Iota(d, quad + i * lanes);
    c1[i] = hn::ShiftRight<32>(c0[i]);
    c2[i] = hn::Set(d, row);
    c3[i] = hn::Set(d, row >> 32);
  }
  for (const RoundKeys::Round& round : keys) {
    const WordVector key_0 = hn::Set(d, round.first), key_1 = hn::Set(d, round.second);
    for (size_t i = 0; i < philox_together; ++i) {
      const WordVector product_0 = multiply_low(c0[i], multiplier_0);
      const WordVector product_1 = multiply_low(c2[i], multiplier_1);
      c0[i] = hn::Xor(hn::ShiftRight<32>(product_1), hn::Xor(c1[i], key_0));
      c2[i] = hn::Xor(hn::ShiftRight<32>(product_0), hn::Xor(c3[i], key_1));
      c1[i] = product_1;
      c3[i] = product_0;
    }
  }
  const WordVector low = hn::Set(d, 0xFFFFFFFF);
  const auto pair = [=](WordVector even, WordVector odd)
                        HWY_ATTR { return hn::Or(hn::And(even, low), hn::ShiftLeft<32>(odd)); };
  for (size_t i = 0; i < philox_together; ++i) {
    hn::StoreInterleaved2(pair(c0[i], c1[i]), pair(c2[i], c3[i]), d,
                          reinterpret_cast<uint64_t*>(to + 4 * i * lanes));
  }
}

/// Factors 0 or `kept` of columns [0, count) of a row, to exactly `count` elements of `to`: 0 where
/// word c % 4 of philox(key, c / 4, row) is below the threshold. Integer arithmetic and a choice,
/// so the factors are the same on every instruction set. `drop` must be active: a threshold of 0
/// keeps all.
inline void drop_factors_of_row(const DropRow& drop, uint64_t row, size_t count, float* to) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words_of;
  constexpr size_t most = 4 * philox_together * hn::MaxLanes(Words());
  HWY_ALIGN uint32_t words[most];
  HWY_ALIGN float factors[most];
  const size_t step = 4 * philox_together * hn::Lanes(Words());
  const auto threshold = hn::Set(words_of, drop.threshold);
  const RoundKeys keys(drop.key);
  for (size_t at = 0; at < count; at += step) {
    philox_quads(keys, at / 4, row, words);
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
