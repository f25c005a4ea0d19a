#include "ballast/metrics/ter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "ballast/metrics/ngrams.h"
#include "ballast/metrics/references.h"
#include "ballast/metrics/sacrebleu.h"
#include "ballast/metrics/shift_search.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

struct Edits {
  int64_t edits = 0;
  double reference_len = 0;
};

std::vector<uint32_t> words_of(std::string_view line, const TerOptions& options, WordIds& ids) {
  const std::u32string text = code_points(line);
  const std::u32string_view trimmed = trim_end(text);
  if (options.case_sensitive) return ids.number(split_words(trimmed));
  const std::u32string lowered = lower_case(trimmed);
  return ids.number(split_words(lowered));
}

Edits segment_edits(std::string_view hypothesis, std::span<const std::string_view> references,
                    const TerOptions& options) {
  WordIds ids;
  const std::vector<uint32_t> words = words_of(hypothesis, options, ids);
  int64_t fewest = std::numeric_limits<int64_t>::max();
  size_t length = 0;
  for (const std::string_view line : references) {
    const std::vector<uint32_t> reference = words_of(line, options, ids);
    fewest = std::min(fewest, translation_edits(words, reference));
    length += reference.size();
  }
  return {fewest, static_cast<double>(length) / static_cast<double>(references.size())};
}

TerScore score_of(const Edits& sum) {
  const auto edits = static_cast<double>(sum.edits);
  double rate = sum.edits > 0 ? 1 : 0;
  if (sum.reference_len > 0) rate = edits / sum.reference_len;
  return {100 * rate, sum.edits, sum.reference_len};
}

}  // namespace

TerScore corpus_ter(std::span<const std::string> hypotheses,
                    std::span<const std::vector<std::string>> references,
                    const TerOptions& options) {
  check_line_counts(hypotheses.size(), references);
  Edits sum;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    const Edits segment =
        segment_edits(hypotheses[line], references_of_line(references, line), options);
    sum.edits += segment.edits;
    sum.reference_len += segment.reference_len;
  }
  return score_of(sum);
}

TerScore sentence_ter(const std::string& hypothesis, std::span<const std::string> references,
                      const TerOptions& options) {
  const std::vector<std::string_view> lines(references.begin(), references.end());
  return score_of(segment_edits(hypothesis, lines, options));
}

std::string ter_signature(const TerOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|tok:tercom|norm:no|punct:yes|asian:no|version:{}",
                     references, options.case_sensitive ? "mixed" : "lc", sacrebleu_version);
}

}  // namespace ballast
