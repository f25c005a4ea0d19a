#include "ballast/metrics/metric.h"

#include <fmt/format.h>

#include "ballast/base/error.h"

namespace ballast {

std::vector<double> LineStatistics::sums() const {
  std::vector<double> sums(width);
  for (size_t at = 0; at < values.size(); ++at) sums[at % width] += values[at];
  return sums;
}

void check_line_counts(size_t hypotheses, std::span<const std::vector<std::string>> references) {
  if (references.empty()) throw DataError("no reference to score against; give at least one");
  for (size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses) continue;
    throw DataError(fmt::format(
        "reference {} has {} lines, but there are {} hypotheses; line n of each must be the same "
        "sentence",
        r + 1, references[r].size(), hypotheses));
  }
}

std::vector<std::string_view> references_of_line(
    std::span<const std::vector<std::string>> references, size_t line) {
  std::vector<std::string_view> lines;
  for (const std::vector<std::string>& reference : references) lines.emplace_back(reference[line]);
  return lines;
}

std::string sacrebleu_signature(size_t references, const Resampling* resampling,
                                std::string_view options) {
  std::string tested;
  if (resampling != nullptr) {
    const bool bootstrap = resampling->kind == Resampling::Kind::bootstrap;
    tested = fmt::format("{}:{}|seed:{}|", bootstrap ? "bs" : "ar", resampling->samples,
                         resampling->seed);
  }
  return fmt::format("nrefs:{}|{}{}|version:{}", references, tested, options, sacrebleu_version);
}

}  // namespace ballast
