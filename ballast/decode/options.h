#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/precision.h"

namespace ballast {

/// What a hypothesis' log-probability is divided by: len^alpha (fairseq), or ((5 + len)/6)^alpha
/// (GNMT, Wu et al. 2016). The length counts the end piece.
enum class LengthPenalty { power, gnmt };

template <>
struct EnumNames<LengthPenalty> {
  static constexpr std::array<std::pair<std::string_view, LengthPenalty>, 2> value{
      {{"power", LengthPenalty::power}, {"gnmt", LengthPenalty::gnmt}}};
};

/// The likeliest outputs that a beam of `beam` hypotheses finds.
struct BeamSearch {
  static constexpr KindInfo info{"beam",
                                 "argmax score(y), among the decode.beam best at every step",
                                 "Sutskever et al. 2014, arXiv:1409.3215"};

  bool operator==(const BeamSearch&) const = default;
};

/// Outputs drawn token by token. First the temperature, then `top_k`, then `top_p` of what is left
/// (the order of Hugging Face's transformers). A draw depends on the seed, the sentence's number,
/// the sample and the step, and on nothing else.
struct RandomSampling {
  static constexpr KindInfo info{"sampling", "y_t ~ softmax(logits / temperature), cut to a front",
                                 "top_k: Fan et al. 2018, arXiv:1805.04833; top_p: Holtzman et al. "
                                 "2019, arXiv:1904.09751"};
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1;
  int64_t samples = 1;
  int64_t seed = 1;

  static constexpr auto fields() {
    using S = RandomSampling;
    return std::make_tuple(
        field("temperature", &S::temperature, "what the logits are divided by; 1: as trained",
              positive),
        field("top_k", &S::top_k, "draw among the likeliest so many; 0 = all", at_least_zero),
        field("top_p", &S::top_p,
              "draw among the fewest of the likeliest that have this probability together",
              Bounds{.low = 0, .high = 1, .open_low = true}),
        field("samples", &S::samples, "outputs drawn for a sentence; the best scored comes first",
              at_least_one),
        field("seed", &S::seed, "of the draws", at_least_zero));
  }
  bool operator==(const RandomSampling&) const = default;
};

/// Every way to choose outputs that a recipe can name.
using SearchChoice = std::variant<BeamSearch, RandomSampling>;

struct DecodeOptions {
  SearchChoice search;
  int64_t beam = 4;
  LengthPenalty length_penalty = LengthPenalty::power;
  double alpha = 1;
  double max_ratio = 2;
  int64_t max_extra = 20;
  int64_t min_length = 0;
  double min_ratio = 0;
  bool allow_empty = false;
  bool forbid_unknown = false;
  int64_t no_repeat_ngram = 0;
  int64_t batch_tokens = 4096;
  Precision precision = Precision::float32;

  static constexpr auto fields() {
    using D = DecodeOptions;
    return std::make_tuple(
        field("search", &D::search, "how outputs are chosen"),
        field("beam", &D::beam, "hypotheses kept for a sentence; 1 is greedy", at_least_one),
        field("length_penalty", &D::length_penalty,
              "power: len^alpha (fairseq); gnmt: ((5 + len)/6)^alpha"),
        field("alpha", &D::alpha, "exponent of the length penalty", at_least_zero),
        field(
            "max_ratio", &D::max_ratio,
            "longest output: max_ratio source tokens + max_extra, and what the model has positions "
            "for",
            at_least_zero),
        field("max_extra", &D::max_extra, "tokens, see max_ratio", at_least_one),
        field("min_length", &D::min_length,
              "fewest tokens of an output, without the end piece; the longest output goes first",
              at_least_zero),
        field("min_ratio", &D::min_ratio, "fewest tokens of an output for each source token",
              at_least_zero),
        field("allow_empty", &D::allow_empty, "whether a translation may have no token at all"),
        field("forbid_unknown", &D::forbid_unknown, "never choose the unknown piece"),
        field("no_repeat_ngram", &D::no_repeat_ngram,
              "no so many tokens in a row occur twice in an output; 0 = they may", at_least_zero),
        field("batch_tokens", &D::batch_tokens, "source tokens times beam decoded together",
              at_least_one),
        field("precision", &D::precision,
              "of matrix products: float32, or bf16 where the processor has instructions for it"));
  }
  bool operator==(const DecodeOptions&) const = default;

  /// Hypotheses that are kept, and so found at most, for a sentence.
  int64_t width() const {
    const auto* sampling = std::get_if<RandomSampling>(&search);
    return sampling != nullptr ? sampling->samples : beam;
  }

  /// The same with the likeliest token at every step.
  DecodeOptions greedy() const {
    DecodeOptions options = *this;
    options.search = BeamSearch{};
    options.beam = 1;
    return options;
  }
};

}  // namespace ballast
