#include "ballast/metrics/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "ballast/metrics/ngrams.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

std::vector<uint32_t> words_of(std::string_view line, const BleuOptions& options,
                               const LineTokenizer& tokenizer, WordIds& ids) {
  std::u32string text = code_points(line);
  if (options.lowercase) text = lower_case(text);
  const std::u32string spaced = tokenizer.spaced(trim_end(text));
  return ids.number(split_words(spaced));
}

int64_t nearer_length(int64_t length, int64_t a, int64_t b) {
  const auto rank = [length](int64_t l) { return std::pair{std::abs(l - length), l}; };
  return rank(b) < rank(a) ? b : a;
}

// [sys_len, ref_len, matches of each order, n-grams of each order]
void append_statistics(std::vector<double>& row, std::string_view hypothesis,
                       std::span<const std::string_view> references, const BleuOptions& options,
                       const LineTokenizer& tokenizer) {
  WordIds ids;
  NgramCounter ngrams(options.max_order);
  const std::vector<uint32_t> words = words_of(hypothesis, options, tokenizer, ids);
  const NgramCounter::Counts found = ngrams.count(words);

  const auto sys_len = static_cast<int64_t>(words.size());
  int64_t ref_len = 0;
  NgramCounter::Counts allowed(found.size());
  for (size_t r = 0; r < references.size(); ++r) {
    const std::vector<uint32_t> reference = words_of(references[r], options, tokenizer, ids);
    const NgramCounter::Counts counts = ngrams.count(reference);
    for (size_t i = 0; i < allowed.size(); ++i) allowed[i] = std::max(allowed[i], counts[i]);
    const auto length = static_cast<int64_t>(reference.size());
    ref_len = r == 0 ? length : nearer_length(sys_len, ref_len, length);
  }
  row.insert(row.end(), {static_cast<double>(sys_len), static_cast<double>(ref_len)});
  const std::vector<int64_t> matches = ngrams.matches(found, allowed);
  row.insert(row.end(), matches.begin(), matches.end());
  for (int64_t n = 1; n <= options.max_order; ++n) {
    row.push_back(static_cast<double>(ngrams_in(sys_len, n)));
  }
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

// Rounds as the arithmetic does what one operation on a sum gives.
double rounded(double value, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::single ? static_cast<float>(value) : value;
}

double with_added(double count, double k, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::integer) return std::trunc(count + k);
  return rounded(count + rounded(k, arithmetic), arithmetic);
}

// In percent; `missed` is the number of orders without a match up to this one.
double precision(double count, double total, int missed, const BleuOptions& options,
                 Arithmetic arithmetic) {
  const auto percent = [&](double share) {
    return rounded(rounded(share, arithmetic) / total, arithmetic);
  };
  if (count > 0) return percent(100 * count);
  if (options.smooth_method == BleuSmoothing::exponential) {
    return rounded(100 / rounded(std::ldexp(total, missed), arithmetic), arithmetic);
  }
  if (options.smooth_method == BleuSmoothing::floor) {
    return percent(100 * *smoothing_value(options));
  }
  return 0;
}

// A precision of 0 makes the score 0 without a logarithm of 0.
double floored_log(double precision) {
  return precision == 0 ? -9999999999.0 : std::log(precision);
}

std::vector<int64_t> whole(std::span<const double> numbers) {
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}

std::string signature(const BleuOptions& options, const LineTokenizer& tokenizer, size_t references,
                      const Resampling* resampling) {
  std::string smoothing{enum_name(options.smooth_method)};
  if (const auto value = smoothing_value(options)) smoothing += fmt::format("[{:.2f}]", *value);
  return sacrebleu_signature(
      references, resampling,
      fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", options.lowercase ? "lc" : "mixed",
                  options.effective_order ? "yes" : "no", tokenizer.signature, smoothing));
}

LineStatistics statistics_of(std::span<const std::string> hypotheses,
                             std::span<const std::vector<std::string>> references,
                             const BleuOptions& options, const LineTokenizer& tokenizer) {
  check_line_counts(hypotheses.size(), references);
  LineStatistics statistics{.width = 2 + 2 * static_cast<size_t>(options.max_order)};
  statistics.values.reserve(statistics.width * hypotheses.size());
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    append_statistics(statistics.values, hypotheses[line], references_of_line(references, line),
                      options, tokenizer);
  }
  return statistics;
}

}  // namespace

BleuScore bleu_of(std::span<const double> sums, const BleuOptions& options, Arithmetic arithmetic) {
  const auto orders = static_cast<size_t>(options.max_order);
  std::vector<double> counts(sums.begin() + 2, sums.begin() + 2 + options.max_order);
  std::vector<double> totals(sums.begin() + 2 + options.max_order, sums.end());
  BleuScore result{.precisions = std::vector<double>(orders),
                   .sys_len = static_cast<int64_t>(sums[0]),
                   .ref_len = static_cast<int64_t>(sums[1])};
  result.bp = brevity_penalty(result.sys_len, result.ref_len);

  const bool any = std::ranges::any_of(counts, [](double count) { return count > 0; });
  int missed = 0;
  size_t order = orders;
  for (size_t n = 0; any && n < orders; ++n) {
    if (n > 0 && options.smooth_method == BleuSmoothing::add_k) {
      counts[n] = with_added(counts[n], *smoothing_value(options), arithmetic);
      totals[n] = with_added(totals[n], *smoothing_value(options), arithmetic);
    }
    if (totals[n] == 0) break;
    if (options.effective_order) order = n + 1;
    if (counts[n] == 0) ++missed;
    result.precisions[n] = precision(counts[n], totals[n], missed, options, arithmetic);
  }
  if (any) {
    double log_sum = 0;
    for (size_t n = 0; n < order; ++n) log_sum += floored_log(result.precisions[n]);
    result.score = result.bp * std::exp(log_sum / static_cast<double>(order));
  }
  result.counts = whole(counts);
  result.totals = whole(totals);
  return result;
}

Metric bleu_metric(const BleuOptions& options) {
  const auto tokenizer = std::make_shared<const LineTokenizer>(
      make_tokenizer(options.tokenize, options.tokenizer_path));
  return {.key = "bleu",
          .name = "BLEU",
          .statistics =
              [options, tokenizer](std::span<const std::string> hypotheses,
                                   std::span<const std::vector<std::string>> references) {
                return statistics_of(hypotheses, references, options, *tokenizer);
              },
          .score =
              [options](std::span<const double> sums, Arithmetic arithmetic) {
                return Scored{bleu_of(sums, options, arithmetic).score, false};
              },
          .signature =
              [options, tokenizer](size_t references, const Resampling* resampling) {
                return signature(options, *tokenizer, references, resampling);
              }};
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const BleuOptions& options) {
  const LineTokenizer tokenizer = make_tokenizer(options.tokenize, options.tokenizer_path);
  return bleu_of(statistics_of(hypotheses, references, options, tokenizer).sums(), options);
}

BleuScore sentence_bleu(const std::string& hypothesis, std::span<const std::string> references,
                        const BleuOptions& options) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& reference : references) lines.push_back({reference});
  return corpus_bleu(std::span(&hypothesis, 1), lines, options);
}

std::string bleu_signature(const BleuOptions& options, size_t references) {
  return bleu_metric(options).signature(references, nullptr);
}

bool looks_tokenized(std::span<const std::string> hypotheses) {
  return std::ranges::count_if(hypotheses,
                               [](const std::string& line) { return line.ends_with(" ."); }) >= 100;
}

}  // namespace ballast
