#include "ballast/metrics/shift_search.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "ballast/metrics/beam_distance.h"

namespace ballast {
namespace {

constexpr int64_t max_shift_size = 10;
constexpr int64_t max_shift_distance = 50;
constexpr int64_t max_candidates = 1000;

using Words = std::vector<uint32_t>;

// A stretch that hypothesis and reference have in common.
struct Match {
  int64_t hypothesis, reference, length;
};

struct Shift {
  int64_t start, length, target;
  int64_t saved = 0;

  bool better_than(const Shift& other) const {
    const auto rank = [](const Shift& s) {
      return std::tuple{s.saved, s.length, -s.start, -s.target};
    };
    return rank(*this) > rank(other);
  }
};

Words shifted(Words words, const Shift& shift) {
  const auto at = [&](int64_t i) {
    return words.begin() + std::min(i, static_cast<int64_t>(words.size()));
  };
  const int64_t end = shift.start + shift.length;
  if (shift.target < shift.start) {
    std::rotate(at(shift.target), at(shift.start), at(end));
  } else if (shift.target > end) {
    std::rotate(at(shift.start), at(end), at(shift.target));
  } else {
    std::rotate(at(shift.start), at(end), at(shift.target + shift.length));
  }
  return words;
}

class ShiftSearch {
 public:
  ShiftSearch(std::span<const uint32_t> hypothesis, std::span<const uint32_t> reference)
      : words_(hypothesis.begin(), hypothesis.end()),
        reference_(reference),
        distance_(words_, reference_) {}

  int64_t edits() {
    int64_t shifts = 0;
    while (const std::optional<Shift> shift = best_shift()) {
      words_ = shifted(std::move(words_), *shift);
      distance_ = BeamDistance(words_, reference_);
      ++shifts;
    }
    return shifts + distance_.distance();
  }

 private:
  std::optional<Shift> best_shift() {
    alignment_ = distance_.alignment();
    best_.reset();
    const auto words = static_cast<int64_t>(words_.size());
    for (int64_t start = 0; start < words && !exhausted(); ++start) try_stretches_from(start);
    // Tercom drops the shift during whose search the candidates run out.
    if (exhausted() || !best_ || best_->saved <= 0) return std::nullopt;
    return best_;
  }

  bool exhausted() const { return candidates_ >= max_candidates; }

  void try_stretches_from(int64_t start) {
    const auto references = static_cast<int64_t>(reference_.size());
    const int64_t end = std::min(references, start + max_shift_distance + 1);
    for (int64_t r = std::max<int64_t>(0, start - max_shift_distance); r < end; ++r) {
      const int64_t longest = common_length(start, r);
      for (int64_t length = 1; length <= longest && !exhausted(); ++length) {
        const Match match{start, r, length};
        if (worth_shifting(match)) try_targets(match);
      }
    }
  }

  int64_t common_length(int64_t start, int64_t r) const {
    const auto from = words_.begin() + start;
    const auto size = std::min<int64_t>(max_shift_size, words_.end() - from);
    const auto reference = reference_.subspan(static_cast<size_t>(r));
    return std::mismatch(from, from + size, reference.begin(), reference.end()).first - from;
  }

  bool worth_shifting(const Match& match) const {
    const auto any_wrong = [&](const std::vector<bool>& wrong, int64_t start) {
      const auto begin = wrong.begin() + start;
      return std::find(begin, begin + match.length, true) != begin + match.length;
    };
    const int64_t aligned = alignment_.hypothesis_of[static_cast<size_t>(match.reference)];
    const bool within = aligned >= match.hypothesis && aligned < match.hypothesis + match.length;
    return !within && any_wrong(alignment_.hypothesis_wrong, match.hypothesis) &&
           any_wrong(alignment_.reference_wrong, match.reference);
  }

  void try_targets(const Match& match) {
    int64_t previous = -1;
    for (int64_t r = match.reference - 1; r < match.reference + match.length; ++r) {
      const int64_t target = r < 0 ? 0 : alignment_.hypothesis_of[static_cast<size_t>(r)] + 1;
      if (target == previous) continue;
      previous = target;
      consider({match.hypothesis, match.length, target});
    }
  }

  void consider(Shift shift) {
    ++candidates_;
    const auto same = static_cast<size_t>(std::min(shift.start, shift.target));
    shift.saved = distance_.distance() - distance_.distance_of(shifted(words_, shift), same);
    if (!best_ || shift.better_than(*best_)) best_ = shift;
  }

  Words words_;
  std::span<const uint32_t> reference_;
  BeamDistance distance_;
  WordAlignment alignment_;
  std::optional<Shift> best_;
  int64_t candidates_ = 0;
};

}  // namespace

int64_t translation_edits(std::span<const uint32_t> hypothesis,
                          std::span<const uint32_t> reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  return ShiftSearch(hypothesis, reference).edits();
}

}  // namespace ballast
