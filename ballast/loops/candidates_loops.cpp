#include "ballast/loops/candidates_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/candidates_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/vector_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

constexpr float lowest = -std::numeric_limits<float>::infinity();

/// body(i, v) over the vectors of a row, `lowest` in the lanes past its end.
template <class Body>
HWY_INLINE void for_row(const float* row, int64_t columns, const Body& body) {
  const size_t rest = columns % lanes(), whole = columns - rest;
  for (size_t i = 0; i < whole; i += lanes()) body(i, hn::LoadU(Floats(), row + i));
  if (rest > 0) body(whole, load_part(row + whole, rest, lowest));
}

double sum_of_exponentials(const float* row, int64_t columns, float shift) {
  constexpr int64_t block = 1024;
  const Vector down = hn::Set(Floats(), shift);
  double total = 0;
  for (int64_t at = 0; at < columns; at += block) {
    Vector partial = constant(0);
    for_row(row + at, std::min(block, columns - at),
            [&](size_t, Vector v) HWY_ATTR { partial = hn::Add(partial, exp(hn::Sub(v, down))); });
    total += sum(partial);
  }
  return total;
}

double log_normalizer_of(const float* row, int64_t columns) {
  Vector all = constant(lowest);
  for_row(row, columns, [&](size_t, Vector v) HWY_ATTR { all = hn::Max(all, v); });
  const float most = largest(all);
  return most + std::log(sum_of_exponentials(row, columns, most));
}

/// The best `count` of what was offered, best first; equal ones in the order they came.
class Best {
 public:
  explicit Best(int64_t count) : count_(count) {}

  float worst() const { return full() ? kept_.back().score : lowest; }

  void offer(const Candidate& candidate) {
    if (!(candidate.score > worst())) return;
    if (full()) kept_.pop_back();
    const auto behind = std::find_if(kept_.begin(), kept_.end(), [&](const Candidate& each) {
      return each.score < candidate.score;
    });
    kept_.insert(behind, candidate);
  }

  std::vector<Candidate> taken() { return std::move(kept_); }

 private:
  bool full() const { return static_cast<int64_t>(kept_.size()) == count_; }

  int64_t count_;
  std::vector<Candidate> kept_;
};

bool contains(std::span<const int64_t> all, int64_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

void search_row(const ScoreRows& scores, int64_t row, Best& best) {
  const Floats d;
  const Vector offset = hn::Set(d, scores.offsets[row]);
  const auto forbidden = scores.forbidden.empty() ? std::span<const int64_t>()
                                                  : std::span<const int64_t>(scores.forbidden[row]);
  for_row(scores.logits + row * scores.columns, scores.columns, [&](size_t i, Vector v) HWY_ATTR {
    const Vector score = hn::Add(v, offset);
    if (hn::AllFalse(d, hn::Gt(score, hn::Set(d, best.worst())))) return;
    HWY_ALIGN float part[hn::MaxLanes(Floats())];
    hn::Store(score, d, part);
    for (size_t lane = 0; lane < lanes(); ++lane) {
      const auto token = static_cast<int64_t>(i + lane);
      if (contains(scores.excluded, token) || contains(forbidden, token)) continue;
      best.offer({row, token, part[lane]});
    }
  });
}

std::vector<Candidate> search_rows(const ScoreRows& scores, int64_t first, int64_t rows,
                                   int64_t count) {
  if (count == 0) return {};
  Best best(count);
  for (int64_t row = first; row < first + rows; ++row) search_row(scores, row, best);
  return best.taken();
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(log_normalizer_of);
HWY_EXPORT(search_rows);

}  // namespace

double log_normalizer(const float* row, int64_t columns) {
  return HWY_DYNAMIC_DISPATCH(log_normalizer_of)(row, columns);
}

std::vector<Candidate> best_of_rows(const ScoreRows& scores, int64_t first, int64_t rows,
                                    int64_t count) {
  return HWY_DYNAMIC_DISPATCH(search_rows)(scores, first, rows, count);
}

}  // namespace ballast
#endif
