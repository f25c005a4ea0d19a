#include "ballast/decode/hypothesis.h"

#include <algorithm>
#include <cmath>

namespace ballast {
namespace {

/// `ratio` of a length, as far as it makes a difference: a float may be beyond every integer.
int64_t scaled(double ratio, int64_t length) {
  constexpr double beyond_any_output = 1e12;
  return static_cast<int64_t>(std::min(ratio * static_cast<double>(length), beyond_any_output));
}

}  // namespace

SpecialIds special_ids(const Tokenizer& target) {
  const int64_t begin = target.begin_id();
  return {.padding = target.pad_id() < 0 ? begin : target.pad_id(),
          .begin = begin,
          .end = target.end_id(),
          .unknown = target.unknown_id()};
}

double hypothesis_score(double log_probability, int64_t length, const DecodeOptions& options) {
  const auto n = static_cast<double>(length);
  const double base = options.length_penalty == LengthPenalty::power ? n : (5 + n) / 6;
  return log_probability / std::pow(base, options.alpha);
}

int64_t longest_output(int64_t source_length, const DecodeOptions& options) {
  constexpr int64_t beyond_any_output = 1'000'000'000'000;
  return scaled(options.max_ratio, source_length) + std::min(options.max_extra, beyond_any_output);
}

int64_t shortest_output(int64_t source_length, const DecodeOptions& options) {
  return std::max({options.allow_empty ? int64_t{0} : int64_t{1}, options.min_length,
                   scaled(options.min_ratio, source_length)});
}

void rank(std::vector<Hypothesis>& hypotheses) {
  std::stable_sort(hypotheses.begin(), hypotheses.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
}

}  // namespace ballast
