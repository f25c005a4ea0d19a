#include "ballast/metrics/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "ballast/metrics/ngrams.h"
#include "ballast/metrics/references.h"
#include "ballast/metrics/sacrebleu.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

using PerOrder = std::array<int64_t, bleu_order>;

struct Statistics {
  PerOrder counts{}, totals{};
  int64_t sys_len = 0, ref_len = 0;

  Statistics& operator+=(const Statistics& other) {
    for (size_t n = 0; n < bleu_order; ++n) {
      counts[n] += other.counts[n];
      totals[n] += other.totals[n];
    }
    sys_len += other.sys_len;
    ref_len += other.ref_len;
    return *this;
  }
};

std::vector<uint32_t> words_of(std::string_view line, const BleuOptions& options, WordIds& ids) {
  std::u32string text = code_points(line);
  if (options.lowercase) text = lower_case(text);
  const std::u32string spaced = tokenize(trim_end(text), options.tokenize);
  return ids.number(split_words(spaced));
}

int64_t nearer_length(int64_t length, int64_t a, int64_t b) {
  const auto rank = [length](int64_t l) { return std::pair{std::abs(l - length), l}; };
  return rank(b) < rank(a) ? b : a;
}

Statistics segment_statistics(std::string_view hypothesis,
                              std::span<const std::string_view> references,
                              const BleuOptions& options) {
  WordIds ids;
  NgramCounter ngrams(bleu_order);
  const std::vector<uint32_t> words = words_of(hypothesis, options, ids);
  const NgramCounter::Counts found = ngrams.count(words);

  Statistics statistics{.sys_len = static_cast<int64_t>(words.size())};
  NgramCounter::Counts allowed(found.size());
  for (size_t r = 0; r < references.size(); ++r) {
    const std::vector<uint32_t> reference = words_of(references[r], options, ids);
    const NgramCounter::Counts counts = ngrams.count(reference);
    for (size_t i = 0; i < allowed.size(); ++i) allowed[i] = std::max(allowed[i], counts[i]);
    const auto length = static_cast<int64_t>(reference.size());
    statistics.ref_len =
        r == 0 ? length : nearer_length(statistics.sys_len, statistics.ref_len, length);
  }
  std::ranges::copy(ngrams.matches(found, allowed), statistics.counts.begin());
  for (size_t n = 0; n < bleu_order; ++n) {
    statistics.totals[n] = ngrams_in(statistics.sys_len, static_cast<int64_t>(n) + 1);
  }
  return statistics;
}

double brevity_penalty(int64_t sys_len, int64_t ref_len) {
  if (sys_len >= ref_len) return 1;
  if (sys_len == 0) return 0;
  return std::exp(1 - static_cast<double>(ref_len) / static_cast<double>(sys_len));
}

std::optional<double> smoothing_value(const BleuOptions& options) {
  switch (options.smooth_method) {
    case BleuSmoothing::floor:
      return options.smooth_value.value_or(0.1);
    case BleuSmoothing::add_k:
      return options.smooth_value.value_or(1);
    default:
      return std::nullopt;
  }
}

// What an order without a match counts; `missed` is the number of such orders up to this one.
double smoothed_match(const BleuOptions& options, int missed) {
  if (options.smooth_method == BleuSmoothing::exponential) return std::ldexp(1.0, -missed);
  if (options.smooth_method == BleuSmoothing::floor) return *smoothing_value(options);
  return 0;
}

// A precision of 0 makes the score 0 without a logarithm of 0.
double floored_log(double precision) {
  return precision == 0 ? -9999999999.0 : std::log(precision);
}

BleuScore score_of(const Statistics& statistics, const BleuOptions& options) {
  BleuScore result{.counts = statistics.counts,
                   .totals = statistics.totals,
                   .bp = brevity_penalty(statistics.sys_len, statistics.ref_len),
                   .sys_len = statistics.sys_len,
                   .ref_len = statistics.ref_len};
  if (statistics.counts == PerOrder{}) return result;

  const bool adds = options.smooth_method == BleuSmoothing::add_k;
  int missed = 0;
  size_t order = bleu_order;
  for (size_t n = 0; n < bleu_order; ++n) {
    const double added = adds && n > 0 ? *smoothing_value(options) : 0.0;
    const double count = static_cast<double>(statistics.counts[n]) + added;
    const double total = static_cast<double>(statistics.totals[n]) + added;
    result.counts[n] = static_cast<int64_t>(count);
    result.totals[n] = static_cast<int64_t>(total);
    if (total == 0) break;
    if (options.effective_order) order = n + 1;
    if (count == 0) ++missed;
    result.precisions[n] = 100 * (count == 0 ? smoothed_match(options, missed) : count) / total;
  }
  double log_sum = 0;
  for (size_t n = 0; n < order; ++n) log_sum += floored_log(result.precisions[n]);
  result.score = result.bp * std::exp(log_sum / static_cast<double>(order));
  return result;
}

}  // namespace

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const BleuOptions& options) {
  check_line_counts(hypotheses.size(), references);
  Statistics sum;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    sum += segment_statistics(hypotheses[line], references_of_line(references, line), options);
  }
  return score_of(sum, options);
}

BleuScore sentence_bleu(const std::string& hypothesis, std::span<const std::string> references,
                        const BleuOptions& options) {
  const std::vector<std::string_view> lines(references.begin(), references.end());
  return score_of(segment_statistics(hypothesis, lines, options), options);
}

std::string bleu_signature(const BleuOptions& options, size_t references) {
  std::string smoothing{enum_name(options.smooth_method)};
  if (const auto value = smoothing_value(options)) smoothing += fmt::format("[{:.2f}]", *value);
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:{}", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     enum_name(options.tokenize), smoothing, sacrebleu_version);
}

}  // namespace ballast
