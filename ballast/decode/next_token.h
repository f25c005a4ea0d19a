#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ballast/data/tokenizer.h"
#include "ballast/decode/generate_options.h"
#include "ballast/decode/sampling.h"

namespace ballast {

/// What a vocabulary means to whoever writes text with it.
struct TextVocabulary {
  int64_t size = 0;  ///< ids that have a piece; a model may have more
  int64_t end = -1;  ///< -1 where there is none
  int64_t start = 0;
  /// Pieces that stand for no text: unknown, unused and control pieces, but for the end piece.
  std::vector<int64_t> never;
};

TextVocabulary text_vocabulary(const Tokenizer& tokenizer, TextStart start);

/// CTRL's penalty (Keskar et al. 2019, arXiv:1909.05858, in the form of Hugging Face's
/// transformers): the logit of every token that occurs in `tokens` is divided by the penalty where
/// it is above 0, and multiplied with it elsewhere; once, however often the token occurs.
void penalize_repetition(std::span<float> logits, std::span<const int64_t> tokens, double penalty);

/// The next token of a text whose prompt and tokens so far are `tokens`, by the rules of the
/// options in their order. Changes the logits, which are the model's. Nothing where no allowed
/// token has a number.
std::optional<int64_t> next_token(std::span<float> logits, std::span<const int64_t> tokens,
                                  const DrawPlace& place, const TextVocabulary& vocabulary,
                                  const GenerateOptions& options);

}  // namespace ballast
