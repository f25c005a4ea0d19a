#include "ballast/decode/hypothesis.h"

#include <algorithm>
#include <cmath>

namespace ballast {

SpecialIds special_ids(const Tokenizer& target) {
  const int64_t begin = target.begin_id();
  return {.padding = target.pad_id() < 0 ? begin : target.pad_id(),
          .begin = begin,
          .end = target.end_id()};
}

double hypothesis_score(double log_probability, int64_t length, const DecodeOptions& options) {
  const auto n = static_cast<double>(length);
  const double base = options.length_penalty == LengthPenalty::power ? n : (5 + n) / 6;
  return log_probability / std::pow(base, options.alpha);
}

int64_t longest_output(int64_t source_length, const DecodeOptions& options) {
  const double scaled = options.max_ratio * static_cast<double>(source_length);
  return static_cast<int64_t>(scaled) + options.max_extra;
}

void rank(std::vector<Hypothesis>& hypotheses) {
  std::stable_sort(hypotheses.begin(), hypotheses.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
}

}  // namespace ballast
