#include "ballast/decode/next_token.h"

#include <algorithm>
#include <limits>

namespace ballast {

TextVocabulary text_vocabulary(const Tokenizer& tokenizer, TextStart start) {
  TextVocabulary made{.size = tokenizer.size(), .end = tokenizer.end_id()};
  const bool has_begin = tokenizer.begin_id() >= 0;
  made.start = start == TextStart::begin && has_begin ? tokenizer.begin_id() : made.end;
  for (int64_t id = 0; id < made.size; ++id) {
    const PieceKind kind = tokenizer.piece(id).kind;
    const bool is_text = kind == PieceKind::normal || kind == PieceKind::byte;
    const bool is_special = id == tokenizer.pad_id() || id == tokenizer.begin_id();
    if (id != made.end && (!is_text || is_special)) made.never.push_back(id);
  }
  return made;
}

void penalize_repetition(std::span<float> logits, std::span<const int64_t> tokens, double penalty) {
  std::vector<int64_t> distinct(tokens.begin(), tokens.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto factor = static_cast<float>(penalty);
  for (const int64_t token : distinct) {
    if (static_cast<size_t>(token) >= logits.size()) continue;
    float& logit = logits[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / factor : logit * factor;
  }
}

std::optional<int64_t> next_token(std::span<float> logits, std::span<const int64_t> tokens,
                                  const DrawPlace& place, const TextVocabulary& vocabulary,
                                  const GenerateOptions& options) {
  logits = logits.first(std::min(logits.size(), static_cast<size_t>(vocabulary.size)));
  if (options.repetition_penalty != 1) {
    penalize_repetition(logits, tokens, options.repetition_penalty);
  }
  for (const int64_t token : vocabulary.never) {
    logits[static_cast<size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
  if (options.temperature == 0) return likeliest(logits);
  const Cut cut{options.temperature, options.top_k, options.top_p, options.min_p};
  return draw(logits, cut, uniform_at(place, options.seed));
}

}  // namespace ballast
