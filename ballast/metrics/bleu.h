#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/metrics/metric.h"
#include "ballast/metrics/tokenization.h"

namespace ballast {

/// What becomes of an n-gram precision without a match. Chen and Cherry 2014, W14-3346.
enum class BleuSmoothing {
  exponential,  ///< the i-th order without a match counts 2^-i matches
  floor,        ///< it counts `smooth_value` matches
  add_k,        ///< from order 2 on, `smooth_value` is added to matches and totals
  none,         ///< the score is 0
};

template <>
struct EnumNames<BleuSmoothing> {
  static constexpr std::array<std::pair<std::string_view, BleuSmoothing>, 4> value{
      {{"exp", BleuSmoothing::exponential},
       {"floor", BleuSmoothing::floor},
       {"add-k", BleuSmoothing::add_k},
       {"none", BleuSmoothing::none}}};
};

struct BleuOptions {
  BleuTokenization tokenize = BleuTokenization::thirteen_a;
  std::string tokenizer_path;  ///< model or dictionary of `tokenize`, see `make_tokenizer`
  BleuSmoothing smooth_method = BleuSmoothing::exponential;
  std::optional<double> smooth_value = std::nullopt;  ///< unset: 0.1 for floor, 1 for add-k
  bool lowercase = false;
  bool effective_order = false;  ///< leave out orders that the hypothesis is too short for
  int max_order = 4;             ///< longest n-gram; the signature does not tell it

  static constexpr auto fields() {
    return std::tuple{
        field("tokenize", &BleuOptions::tokenize, "how lines are cut into words"),
        field("tokenizer_path", &BleuOptions::tokenizer_path, "its model or dictionary"),
        field("smooth_method", &BleuOptions::smooth_method, "what orders without a match count"),
        field("smooth_value", &BleuOptions::smooth_value,
              "matches that floor or add-k count; unset: 0.1 or 1", at_least_zero),
        field("lowercase", &BleuOptions::lowercase, "compare without case"),
        field("effective_order", &BleuOptions::effective_order,
              "leave out n-gram orders that the text is too short for"),
        field("max_order", &BleuOptions::max_order, "longest n-gram of words", at_least_one),
    };
  }
};

struct BleuScore {
  double score = 0;                ///< 0 to 100
  std::vector<int64_t> counts;     ///< matches per order; with add-k, k included
  std::vector<int64_t> totals;     ///< n-grams of the hypotheses, likewise
  std::vector<double> precisions;  ///< percent, smoothed
  double bp = 1;                   ///< brevity penalty
  int64_t sys_len = 0;             ///< words of the hypotheses
  int64_t ref_len = 0;             ///< words of the references nearest in length
};

/// BLEU as a `Metric`. Loads the tokenizer, once for all that the metric does; raises what
/// `make_tokenizer` does.
Metric bleu_metric(const BleuOptions& options = {});

/// The parts of the score whose statistics have these sums, see `Metric::statistics`.
BleuScore bleu_of(std::span<const double> sums, const BleuOptions& options,
                  Arithmetic arithmetic = Arithmetic::plain);

/// BLEU of a corpus: score = bp * exp(mean over n of log precision_n), equal to sacreBLEU's.
/// `references[r][line]`; of several references the one nearest in length counts, of two as near
/// the shorter. Throws `DataError` when the numbers of lines differ. Papineni et al. 2002,
/// P02-1040.
BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const BleuOptions& options = {});

/// BLEU of one sentence, by default over the orders that it is long enough for.
BleuScore sentence_bleu(const std::string& hypothesis, std::span<const std::string> references,
                        const BleuOptions& options = {.effective_order = true});

/// sacreBLEU's signature, such as `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`.
std::string bleu_signature(const BleuOptions& options, size_t references);

/// Whether a hundred lines or more end in a full stop that stands alone: such text is most likely
/// cut into words already, and its score not comparable.
bool looks_tokenized(std::span<const std::string> hypotheses);

}  // namespace ballast
