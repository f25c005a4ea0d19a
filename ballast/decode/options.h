#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

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

struct DecodeOptions {
  int64_t beam = 4;
  LengthPenalty length_penalty = LengthPenalty::power;
  double alpha = 1;
  double max_ratio = 2;
  int64_t max_extra = 20;
  bool allow_empty = false;
  int64_t batch_tokens = 4096;
  Precision precision = Precision::float32;

  static constexpr auto fields() {
    using D = DecodeOptions;
    return std::make_tuple(
        field("beam", &D::beam, "hypotheses kept for a sentence; 1 is greedy", at_least_one),
        field("length_penalty", &D::length_penalty,
              "power: len^alpha (fairseq); gnmt: ((5 + len)/6)^alpha"),
        field("alpha", &D::alpha, "exponent of the length penalty", at_least_zero),
        field("max_ratio", &D::max_ratio, "longest output: max_ratio source tokens + max_extra",
              at_least_zero),
        field("max_extra", &D::max_extra, "tokens, see max_ratio", at_least_one),
        field("allow_empty", &D::allow_empty, "whether a translation may have no token at all"),
        field("batch_tokens", &D::batch_tokens, "source tokens times beam decoded together",
              at_least_one),
        field("precision", &D::precision,
              "of matrix products: float32, or bf16 where the processor has instructions for it"));
  }
  bool operator==(const DecodeOptions&) const = default;
};

}  // namespace ballast
