#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ballast/base/fields.h"
#include "ballast/base/precision.h"

namespace ballast {

/// The piece that stands before a prompt; `trained`: the one that stood before most documents of
/// the training.
enum class TextStart { trained, begin, end };

template <>
struct EnumNames<TextStart> {
  static constexpr std::array<std::pair<std::string_view, TextStart>, 3> value{
      {{"trained", TextStart::trained}, {"begin", TextStart::begin}, {"end", TextStart::end}}};
};

/// How a language model's text is chosen, token by token. What is not 0 or 1 applies in this order,
/// which is that of Hugging Face's transformers: `repetition_penalty`, `temperature`, `top_k`,
/// `top_p`, `min_p`. A draw depends on the seed, the number of the prompt, that of the sample and
/// the step, and on nothing else.
struct GenerateOptions {
  int64_t max_new_tokens = 200;
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1, min_p = 0;
  double repetition_penalty = 1;
  std::vector<std::string> stop;
  int64_t samples = 1;
  int64_t seed = 1;
  bool ignore_end = false;
  TextStart start = TextStart::trained;
  int64_t batch = 8;
  Precision precision = Precision::float32;

  static constexpr auto fields() {
    using G = GenerateOptions;
    return std::make_tuple(
        field("max_new_tokens", &G::max_new_tokens, "most tokens behind the prompt", at_least_one),
        field("temperature", &G::temperature,
              "what the logits are divided by; 1: as trained; 0: always the likeliest token",
              at_least_zero),
        field("top_k", &G::top_k,
              "draw among the likeliest so many; 0 = all (Fan et al. 2018, arXiv:1805.04833)",
              at_least_zero),
        field("top_p", &G::top_p,
              "draw among the fewest of the likeliest that have this probability together "
              "(Holtzman et al. 2019, arXiv:1904.09751)",
              Bounds{.low = 0, .high = 1, .open_low = true}),
        field("min_p", &G::min_p,
              "draw among those with this share of the likeliest's probability (Nguyen et al. "
              "2024, arXiv:2407.01082)",
              Bounds{.low = 0, .high = 1}),
        field("repetition_penalty", &G::repetition_penalty,
              "what the logit of a token that is there already is divided by, where it is above 0, "
              "and multiplied with elsewhere (CTRL, Keskar et al. 2019, arXiv:1909.05858)",
              positive),
        field("stop", &G::stop, "texts, one of which ends the output and is no part of it"),
        field("samples", &G::samples, "outputs for a prompt", at_least_one),
        field("seed", &G::seed, "of the draws", at_least_zero),
        field("ignore_end", &G::ignore_end,
              "go on behind the end piece, which is written as the end of a line"),
        field("start", &G::start,
              "the piece before a prompt: begin, end (which stands between the documents of a "
              "stream), or the one that was trained before most documents"),
        field("batch", &G::batch, "outputs generated together; changes none of them",
              Bounds{.low = 1, .high = 16}),
        field("precision", &G::precision,
              "of matrix products: float32, or bf16 where the processor has instructions for it"));
  }
  bool operator==(const GenerateOptions&) const = default;
};

}  // namespace ballast
