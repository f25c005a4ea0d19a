#include "ballast/metrics/ter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "ballast/metrics/ngrams.h"
#include "ballast/metrics/shift_search.h"
#include "ballast/metrics/tercom_text.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

// [edits, mean length of the references]
constexpr size_t numbers_per_line = 2;

std::u32string normal(std::u32string_view line, const TerOptions& options) {
  return joined(split_words(tercom_text(trim_end(line), options)));
}

void append_edits(std::vector<double>& row, std::string_view hypothesis,
                  std::span<const std::string_view> references, const TerOptions& options) {
  WordIds ids;
  const std::u32string hypothesis_text = normal(code_points(hypothesis), options);
  const std::vector<uint32_t> words = ids.number(split_words(hypothesis_text));
  int64_t fewest = std::numeric_limits<int64_t>::max();
  size_t length = 0;
  for (const std::string_view line : references) {
    // sacreBLEU does so: the second time finds the possessive of "it's." that the first set apart.
    const std::u32string text = normal(normal(code_points(line), options), options);
    const std::vector<uint32_t> reference = ids.number(split_words(text));
    fewest = std::min(fewest, translation_edits(words, reference));
    length += reference.size();
  }
  row.push_back(static_cast<double>(fewest));
  row.push_back(static_cast<double>(length) / static_cast<double>(references.size()));
}

LineStatistics statistics_of(std::span<const std::string> hypotheses,
                             std::span<const std::vector<std::string>> references,
                             const TerOptions& options) {
  check_line_counts(hypotheses.size(), references);
  LineStatistics statistics{.width = numbers_per_line};
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    append_edits(statistics.values, hypotheses[line], references_of_line(references, line),
                 options);
  }
  return statistics;
}

Scored score_of(std::span<const double> sums, Arithmetic arithmetic) {
  const double edits = sums[0], length = sums[1];
  if (length <= 0) return {edits > 0 ? 100.0 : 0.0, false};
  if (arithmetic != Arithmetic::single) return {100 * (edits / length), false};
  return {100 * (static_cast<float>(edits) / static_cast<float>(length)), true};
}

}  // namespace

TerScore corpus_ter(std::span<const std::string> hypotheses,
                    std::span<const std::vector<std::string>> references,
                    const TerOptions& options) {
  const std::vector<double> sums = statistics_of(hypotheses, references, options).sums();
  return {score_of(sums, Arithmetic::plain).value, static_cast<int64_t>(sums[0]), sums[1]};
}

TerScore sentence_ter(const std::string& hypothesis, std::span<const std::string> references,
                      const TerOptions& options) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& reference : references) lines.push_back({reference});
  return corpus_ter(std::span(&hypothesis, 1), lines, options);
}

Metric ter_metric(const TerOptions& options) {
  return {.key = "ter",
          .name = "TER",
          .statistics =
              [options](std::span<const std::string> hypotheses,
                        std::span<const std::vector<std::string>> references) {
                return statistics_of(hypotheses, references, options);
              },
          .score = score_of,
          .signature =
              [options](size_t references, const Resampling* resampling) {
                const auto word = [](bool yes) { return yes ? "yes" : "no"; };
                return sacrebleu_signature(
                    references, resampling,
                    fmt::format("case:{}|tok:tercom|norm:{}|punct:{}|asian:{}",
                                options.case_sensitive ? "mixed" : "lc", word(options.normalized),
                                word(!options.no_punct), word(options.asian_support)));
              }};
}

std::string ter_signature(const TerOptions& options, size_t references) {
  return ter_metric(options).signature(references, nullptr);
}

}  // namespace ballast
