#include "ballast/metrics/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ballast/base/error.h"
#include "ballast/metrics/ngrams.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

// n-grams of the hypothesis, of the reference and of both, of each order: first characters, then
// words.
using Overlaps = std::vector<double>;
constexpr size_t numbers_per_order = 3;

bool is_ascii_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  return marks.find(c) != marks.npos;
}

// Parts one punctuation mark from each word, the last if there is one, else the first.
std::vector<std::u32string_view> part_punctuation(std::span<const std::u32string_view> words) {
  std::vector<std::u32string_view> parts;
  for (const std::u32string_view word : words) {
    size_t cut = word.size();
    if (is_ascii_punctuation(word.back())) {
      cut = word.size() - 1;
    } else if (is_ascii_punctuation(word.front())) {
      cut = 1;
    }
    if (cut > 0) parts.push_back(word.substr(0, cut));
    if (cut < word.size()) parts.push_back(word.substr(cut));
  }
  return parts;
}

struct Tokens {
  std::vector<uint32_t> characters, words;
};

Tokens tokens_of(std::string_view line, const ChrfOptions& options, WordIds& ids) {
  std::u32string text = code_points(line);
  if (options.lowercase) text = lower_case(text);
  const std::vector<std::u32string_view> words = split_words(text);
  Tokens tokens;
  if (options.whitespace) {
    tokens.characters.assign(text.begin(), text.end());
  } else {
    for (const std::u32string_view word : words) {
      tokens.characters.insert(tokens.characters.end(), word.begin(), word.end());
    }
  }
  if (options.word_order > 0) tokens.words = ids.number(part_punctuation(words));
  return tokens;
}

// The n-grams of one hypothesis and of the references that it is compared with.
class Comparison {
 public:
  Comparison(std::string_view hypothesis, const ChrfOptions& options)
      : options_(options),
        character_ngrams_(options.char_order),
        word_ngrams_(options.word_order),
        hypothesis_(tokens_of(hypothesis, options, ids_)),
        characters_(character_ngrams_.count(hypothesis_.characters)),
        words_(word_ngrams_.count(hypothesis_.words)) {}

  Overlaps with(std::string_view reference) {
    const Tokens tokens = tokens_of(reference, options_, ids_);
    Overlaps overlaps;
    append(overlaps, {hypothesis_.characters.size(), tokens.characters.size()},
           character_ngrams_.matches(characters_, character_ngrams_.count(tokens.characters)));
    append(overlaps, {hypothesis_.words.size(), tokens.words.size()},
           word_ngrams_.matches(words_, word_ngrams_.count(tokens.words)));
    return overlaps;
  }

 private:
  struct Lengths {
    size_t hypothesis, reference;
  };

  static void append(Overlaps& overlaps, Lengths lengths, std::span<const int64_t> matches) {
    for (size_t i = 0; i < matches.size(); ++i) {
      const auto n = static_cast<int64_t>(i) + 1;
      const int64_t reference = ngrams_in(static_cast<int64_t>(lengths.reference), n);
      const int64_t hypothesis = ngrams_in(static_cast<int64_t>(lengths.hypothesis), n);
      // sacreBLEU forgives n-grams that the reference is too short to have.
      for (const int64_t number : {reference > 0 ? hypothesis : 0, reference, matches[i]}) {
        overlaps.push_back(static_cast<double>(number));
      }
    }
  }

  const ChrfOptions& options_;
  WordIds ids_;
  NgramCounter character_ngrams_, word_ngrams_;
  Tokens hypothesis_;
  NgramCounter::Counts characters_, words_;
};

constexpr double epsilon = 1e-16;

// F_beta, not yet in percent. Real is float where numpy would work with float32.
template <class Real>
Real f_beta(Real precision, Real recall, int beta) {
  const double square = static_cast<double>(beta) * beta;
  const Real denominator = static_cast<Real>(square) * precision + recall;
  if (denominator <= 0) return static_cast<Real>(epsilon);
  return static_cast<Real>(1 + square) * precision * recall / denominator;
}

template <class Real>
struct OrderShares {
  Real precision, recall;
  bool both;  // both sides have n-grams of this order
};

template <class Real>
std::vector<OrderShares<Real>> shares_of(std::span<const double> overlaps) {
  std::vector<OrderShares<Real>> shares;
  for (size_t i = 0; i < overlaps.size(); i += numbers_per_order) {
    const auto hypothesis = static_cast<Real>(overlaps[i]);
    const auto reference = static_cast<Real>(overlaps[i + 1]);
    const auto matches = static_cast<Real>(overlaps[i + 2]);
    const auto none = static_cast<Real>(epsilon);
    shares.push_back({hypothesis > 0 ? matches / hypothesis : none,
                      reference > 0 ? matches / reference : none, hypothesis > 0 && reference > 0});
  }
  return shares;
}

template <class Real>
Real smoothed_score(std::span<const OrderShares<Real>> shares, int beta) {
  Real sum = 0;
  for (const auto& order : shares) sum += f_beta(order.precision, order.recall, beta);
  return 100 * sum / static_cast<Real>(shares.size());
}

template <class Real>
Real effective_score(std::span<const OrderShares<Real>> shares, int beta) {
  Real precision = 0, recall = 0;
  int orders = 0;
  for (const auto& order : shares) {
    if (!order.both) continue;
    precision += order.precision;
    recall += order.recall;
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= static_cast<Real>(orders);
  recall /= static_cast<Real>(orders);
  return 100 * f_beta(precision, recall, beta);
}

template <class Real>
double score_in(std::span<const double> overlaps, const ChrfOptions& options) {
  const std::vector<OrderShares<Real>> shares = shares_of<Real>(overlaps);
  const std::span<const OrderShares<Real>> view(shares);
  return options.eps_smoothing ? smoothed_score(view, options.beta)
                               : effective_score(view, options.beta);
}

// Whether a number of numpy's enters the score of its statistics: otherwise it is one of Python's
// own, which are float64.
bool enters(std::span<const double> overlaps, const ChrfOptions& options) {
  for (size_t i = 0; i < overlaps.size(); i += numbers_per_order) {
    const bool no_hypothesis = overlaps[i] == 0 && overlaps[i + 1] > 0;
    const bool epsilon_counts = options.eps_smoothing && options.beta > 0;
    if (overlaps[i + 2] > 0 || (no_hypothesis && epsilon_counts)) return true;
  }
  return false;
}

Scored score_of(std::span<const double> overlaps, const ChrfOptions& options,
                Arithmetic arithmetic) {
  if (arithmetic != Arithmetic::single) return {score_in<double>(overlaps, options), false};
  return {score_in<float>(overlaps, options), enters(overlaps, options)};
}

void append_best_overlaps(std::vector<double>& row, std::string_view hypothesis,
                          std::span<const std::string_view> references,
                          const ChrfOptions& options) {
  Comparison comparison(hypothesis, options);
  Overlaps best;
  double best_score = -1;
  for (const std::string_view reference : references) {
    Overlaps overlaps = comparison.with(reference);
    const double score = score_in<double>(overlaps, options);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(overlaps);
  }
  row.insert(row.end(), best.begin(), best.end());
}

LineStatistics statistics_of(std::span<const std::string> hypotheses,
                             std::span<const std::vector<std::string>> references,
                             const ChrfOptions& options) {
  check_line_counts(hypotheses.size(), references);
  const int orders = options.char_order + options.word_order;
  if (orders == 0) {
    throw RecipeError(
        "chrF with no order of characters and no order of words has nothing to count; give at "
        "least one order of 1 or more");
  }
  LineStatistics statistics{.width = numbers_per_order * static_cast<size_t>(orders)};
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    append_best_overlaps(statistics.values, hypotheses[line], references_of_line(references, line),
                         options);
  }
  return statistics;
}

}  // namespace

double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options) {
  return score_in<double>(statistics_of(hypotheses, references, options).sums(), options);
}

double sentence_chrf(const std::string& hypothesis, std::span<const std::string> references,
                     const ChrfOptions& options) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& reference : references) lines.push_back({reference});
  return corpus_chrf(std::span(&hypothesis, 1), lines, options);
}

Metric chrf_metric(const ChrfOptions& options) {
  return {.key = "chrf",
          .name = chrf_name(options),
          .statistics =
              [options](std::span<const std::string> hypotheses,
                        std::span<const std::vector<std::string>> references) {
                return statistics_of(hypotheses, references, options);
              },
          .score = [options](std::span<const double> sums,
                             Arithmetic arithmetic) { return score_of(sums, options, arithmetic); },
          .signature =
              [options](size_t references, const Resampling* resampling) {
                return sacrebleu_signature(
                    references, resampling,
                    fmt::format("case:{}|eff:{}|nc:{}|nw:{}|space:{}",
                                options.lowercase ? "lc" : "mixed",
                                options.eps_smoothing ? "no" : "yes", options.char_order,
                                options.word_order, options.whitespace ? "yes" : "no"));
              }};
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta,
                     std::string(static_cast<size_t>(options.word_order), '+'));
}

std::string chrf_signature(const ChrfOptions& options, size_t references) {
  return chrf_metric(options).signature(references, nullptr);
}

}  // namespace ballast
