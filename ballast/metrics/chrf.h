#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ballast/base/fields.h"
#include "ballast/metrics/metric.h"

namespace ballast {

struct ChrfOptions {
  int char_order = 6;  ///< 0: none; not both orders may be
  int word_order = 0;  ///< 2: chrF++
  int beta = 2;        ///< weight of recall against precision
  bool lowercase = false;
  bool whitespace = false;     ///< white space is a character
  bool eps_smoothing = false;  ///< as chrF++.py, Moses and NLTK have it, see `corpus_chrf`

  static constexpr auto fields() {
    return std::tuple{
        field("char_order", &ChrfOptions::char_order, "longest n-gram of characters",
              at_least_zero),
        field("word_order", &ChrfOptions::word_order, "longest n-gram of words; 2 is chrF++",
              at_least_zero),
        field("beta", &ChrfOptions::beta, "weight of recall against precision", at_least_zero),
        field("lowercase", &ChrfOptions::lowercase, "compare without case"),
        field("whitespace", &ChrfOptions::whitespace, "white space is a character"),
        field("eps_smoothing", &ChrfOptions::eps_smoothing,
              "orders that a side is too short for count almost 0 instead of not at all"),
    };
  }
};

/// chrF of a corpus, 0 to 100, equal to sacreBLEU's: F_beta of precision and recall, each averaged
/// over the orders of n-grams that both sides are long enough for; with `eps_smoothing`, the F_beta
/// averaged over all orders. `references[r][line]`; of several references the one with the best F
/// counts. Throws `DataError` when the numbers of lines differ, `RecipeError` when both orders are
/// 0. Popovic 2015, W15-3049; chrF++: Popovic 2017, W17-4770.
double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options = {});

/// chrF as a `Metric`.
Metric chrf_metric(const ChrfOptions& options = {});

double sentence_chrf(const std::string& hypothesis, std::span<const std::string> references,
                     const ChrfOptions& options = {});

/// `chrF2` with beta, and a `+` for each order of words.
std::string chrf_name(const ChrfOptions& options);

/// sacreBLEU's signature, such as `nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0`.
std::string chrf_signature(const ChrfOptions& options, size_t references);

}  // namespace ballast
